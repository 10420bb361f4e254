{
  description = "Lets software agents drive a browser: MCP server, command line, CDP endpoint";

  inputs.nixpkgs.url = "nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "tabwire";
          version = manifest.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "tabwire" ];
          # They drive a browser, which the build sandbox does not have.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles pkgs.makeWrapper ];
          postInstall = ''
            for shell in bash zsh fish; do
              $out/bin/tabwire completions $shell > tabwire.$shell
              installShellCompletion --cmd tabwire --$shell tabwire.$shell
            done
            wrapProgram $out/bin/tabwire --suffix PATH : ${pkgs.lib.makeBinPath [ pkgs.chromium ]}
          '';
          meta = {
            description = "Lets software agents drive a browser";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "tabwire";
          };
        };
      });
    };
}
