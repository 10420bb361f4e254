# Completion of tabwire for PowerShell. Load it with: tabwire completions powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName tabwire -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition })
    $words = @($elements | Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text })
    # Older PowerShells drop empty arguments, so the last word always carries a mark.
    $words += "${wordToComplete}_"
    & $commandAst.CommandElements[0].Extent.Text complete powershell '--' @words 2>$null | ForEach-Object {
        $value, $description = $_ -split "`t", 2
        # Without a result PowerShell completes files by itself.
        if ($value -ne ':files') {
            if (-not $description) { $description = $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
        }
    }
}
