# The Windows side of `tabwire chrome`: finds, starts, queries and ends browsers on Windows, and relays CDP to them.
#
# Each message is one line of JSON. A request has an id and names its operation in `do`; it gets one response with the
# same id. Lines with `relay` contain unchanged CDP frames. Runs in Windows PowerShell 5.1 and later. When its input
# ends, it ends the headless browsers that it started, then exits.

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# In C#, because it reads a websocket while the script waits for the next request. PowerShell 5.1 has C# 5.
Add-Type -TypeDefinition @'
using System;
using System.IO;
using System.Net.WebSockets;
using System.Text;
using System.Threading;

public sealed class TabwireRelay
{
    static readonly object Gate = new object();
    static readonly Stream Output = Console.OpenStandardOutput();
    static readonly Encoding Utf8 = new UTF8Encoding(false);

    readonly ClientWebSocket socket = new ClientWebSocket();
    readonly long number;

    public TabwireRelay(long number) { this.number = number; }

    public static void Say(string line)
    {
        byte[] bytes = Utf8.GetBytes(line + "\n");
        lock (Gate) { Output.Write(bytes, 0, bytes.Length); Output.Flush(); }
    }

    public void Open(string address, int milliseconds)
    {
        socket.Options.KeepAliveInterval = TimeSpan.FromSeconds(30);
        using (var timeout = new CancellationTokenSource(milliseconds))
        {
            socket.ConnectAsync(new Uri(address), timeout.Token).GetAwaiter().GetResult();
        }
        var reader = new Thread(Read);
        reader.IsBackground = true;
        reader.Start();
    }

    public void Send(string frame)
    {
        var bytes = new ArraySegment<byte>(Utf8.GetBytes(frame));
        socket.SendAsync(bytes, WebSocketMessageType.Text, true, CancellationToken.None).GetAwaiter().GetResult();
    }

    public void Close() { socket.Abort(); }

    void Read()
    {
        byte[] head = Utf8.GetBytes("{\"relay\":" + number + ",\"frame\":");
        byte[] tail = Utf8.GetBytes("}\n");
        var buffer = new ArraySegment<byte>(new byte[1 << 20]);
        var message = new MemoryStream();
        try
        {
            while (true)
            {
                var part = socket.ReceiveAsync(buffer, CancellationToken.None).GetAwaiter().GetResult();
                if (part.MessageType == WebSocketMessageType.Close) { Closed("READER_CLOSE", "NormalClosure"); return; }
                message.Write(buffer.Array, 0, part.Count);
                if (!part.EndOfMessage) { continue; }
                lock (Gate)
                {
                    Output.Write(head, 0, head.Length);
                    message.WriteTo(Output);
                    Output.Write(tail, 0, tail.Length);
                    Output.Flush();
                }
                message.SetLength(0);
            }
        }
        catch (WebSocketException error) { Closed("READER_ERROR", error.WebSocketErrorCode.ToString()); }
        catch (Exception error) { Closed("READER_ERROR", error.GetType().Name); }
    }

    void Closed(string signal, string code)
    {
        Say("{\"relay\":" + number + ",\"closed\":{\"signal\":\"" + signal + "\",\"code\":\"" + code + "\"}}");
    }
}
'@

$relays = @{}
$launched = @{}

function Expand([string] $text) { [Environment]::ExpandEnvironmentVariables($text) }

# Normalizes a directory for comparison: absolute, without a trailing separator, in lower case.
function Normalize([string] $directory) {
    $whole = Expand $directory
    try { $whole = [IO.Path]::GetFullPath($whole) } catch { }
    $whole.TrimEnd('\', '/').ToLowerInvariant()
}

# The value of a flag on a command line, quoted or not.
function Find-Value([string] $line, [string] $flag) {
    $pattern = '"--' + $flag + '=([^"]*)"|--' + $flag + '="([^"]*)"|--' + $flag + '=(\S+)'
    $match = [regex]::Match($line, $pattern)
    if (-not $match.Success) { return $null }
    ($match.Groups | Select-Object -Skip 1 | Where-Object { $_.Success } | Select-Object -First 1).Value
}

# The main processes of browsers on a profile, the newest first.
function Find-Browsers([string] $profile) {
    $wanted = Normalize $profile
    $filter = "Name = 'chrome.exe' OR Name = 'msedge.exe' OR Name = 'chromium.exe' OR Name = 'brave.exe'"
    Get-CimInstance Win32_Process -Filter $filter | Where-Object {
        $directory = if ($_.CommandLine) { Find-Value $_.CommandLine 'user-data-dir' }
        $directory -and -not ($_.CommandLine -match '--type=') -and (Normalize $directory) -eq $wanted
    } | Sort-Object CreationDate -Descending | ForEach-Object {
        $port = (Find-Value $_.CommandLine 'remote-debugging-port') -as [int]
        @{
            pid = [int] $_.ProcessId
            port = $(if ($port -gt 0 -and $port -lt 65536) { $port } else { $null })
            headless = [bool] ($_.CommandLine -match '--headless')
            executable = [string] $_.ExecutablePath
        }
    }
}

function Find-Program([string] $program) {
    if ($program) { return Expand $program }
    $places = '%ProgramFiles%', '%ProgramFiles(x86)%', '%LocalAppData%'
    foreach ($place in $places) {
        $candidate = Expand ($place + '\Google\Chrome\Application\chrome.exe')
        if (Test-Path -LiteralPath $candidate) { return $candidate }
    }
    'chrome.exe'
}

# Quotes an argument as programs parse it: in quotes if it has blanks, with doubled backslashes before a quote.
function Quote([string] $argument) {
    if ($argument -notmatch '[\s"]') { return $argument }
    '"' + (($argument -replace '(\\*)"', '$1$1\"') -replace '(\\+)$', '$1$1') + '"'
}

function Test-Port([int] $port) {
    $listener = New-Object Net.Sockets.TcpListener([Net.IPAddress]::Loopback, $port)
    try { $listener.Start(); $listener.LocalEndpoint.Port } catch { $null } finally { $listener.Stop() }
}

function Resolve-Port($request) {
    if ($request.preferred) {
        if (Test-Port $request.preferred) { return @{ port = [int] $request.preferred } }
        if ($request.fixed) { throw "port $($request.preferred) is taken" }
    }
    @{ port = [int] (Test-Port 0) }
}

function Start-Browser($request) {
    $program = Find-Program $request.executable
    $line = (@($request.arguments) | ForEach-Object { Quote (Expand $_) }) -join ' '
    $process = Start-Process -FilePath $program -ArgumentList $line -PassThru
    if ($request.headless) { $script:launched[[int] $process.Id] = $request }
    @{ pid = [int] $process.Id; executable = [string] $program }
}

function Get-Version($request) {
    try {
        $page = Invoke-WebRequest -UseBasicParsing -TimeoutSec 2 -Uri "http://127.0.0.1:$($request.port)/json/version"
        @{ version = ($page.Content | ConvertFrom-Json) }
    } catch { @{ version = $null } }
}

# Ends the main process on a profile and port. Checks the process first, because Windows reuses process ids.
function Stop-Browser($request) {
    $stopped = @()
    foreach ($browser in @(Find-Browsers $request.profile)) {
        if ($browser.port -ne $request.port) { continue }
        if ($request.headless -and -not $browser.headless) { continue }
        if ($request.executable -and $browser.executable -ne (Expand $request.executable)) { continue }
        Stop-Process -Id $browser.pid -Force
        $stopped += $browser.pid
        $script:launched.Remove([int] $browser.pid)
    }
    @{ stopped = @($stopped) }
}

function Open-Relay($request) {
    $relay = New-Object TabwireRelay([long] $request.relay)
    $relay.Open($request.url, [int] $request.milliseconds)
    $script:relays["$($request.relay)"] = $relay
    @{}
}

function Close-Relay($request) {
    $relay = $script:relays["$($request.relay)"]
    if ($relay) { $relay.Close(); $script:relays.Remove("$($request.relay)") }
    @{}
}

function Invoke-Request($request) {
    switch ($request.do) {
        'find' { @{ browser = (@(Find-Browsers $request.profile) | Select-Object -First 1) } }
        'port' { Resolve-Port $request }
        'launch' { Start-Browser $request }
        'version' { Get-Version $request }
        'stop' { Stop-Browser $request }
        'open' { Open-Relay $request }
        'close' { Close-Relay $request }
        default { throw "'$($request.do)' is not known" }
    }
}

$input8 = New-Object IO.StreamReader([Console]::OpenStandardInput(), (New-Object Text.UTF8Encoding($false)))
[TabwireRelay]::Say((@{ ready = @{ protocol = 1; powershell = "$($PSVersionTable.PSVersion)" } } | ConvertTo-Json -Compress))
while ($null -ne ($line = $input8.ReadLine())) {
    if ($line.StartsWith('{"relay":')) {
        $comma = $line.IndexOf(',')
        $relay = $relays[$line.Substring(9, $comma - 9)]
        # The text between `,"frame":` and the last brace. A broken relay reports its failure itself.
        if ($relay) { try { $relay.Send($line.Substring($comma + 9, $line.Length - $comma - 10)) } catch { } }
        continue
    }
    $id = $null
    try {
        $request = $line | ConvertFrom-Json
        $id = $request.id
        $response = @{ id = $id; result = (Invoke-Request $request) }
    } catch {
        $response = @{ id = $id; error = [string] $_.Exception.Message }
    }
    [TabwireRelay]::Say(($response | ConvertTo-Json -Compress -Depth 6))
}
foreach ($request in @($launched.Values)) {
    $line = @{ profile = $request.profile; port = $request.port; headless = $true; executable = $null }
    try { Stop-Browser ([pscustomobject] $line) | Out-Null } catch { }
}
