# Installs the released tarball. `cargo xtask dist` writes it with the version and the sum.
class Tabwire < Formula
  desc "Lets software agents drive a browser: MCP server, command line, CDP endpoint"
  homepage "https://example.invalid/tabwire"
  version "{{version}}"
  license any_of: ["MIT", "Apache-2.0"]

  on_linux do
    on_intel do
      url "https://example.invalid/tabwire/releases/download/v{{version}}/tabwire-{{version}}-linux-x64.tar.gz"
      sha256 "{{linux_x64_sha256}}"
    end
  end

  def install
    bin.install "bin/tabwire"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/tabwire"
    zsh_completion.install "share/zsh/site-functions/_tabwire"
    fish_completion.install "share/fish/vendor_completions.d/tabwire.fish"
    doc.install Dir["share/doc/tabwire/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tabwire --version")
  end
end
