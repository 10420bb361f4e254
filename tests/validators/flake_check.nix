# Evaluates the flake with a small substitute for nixpkgs: a wrong name or attribute fails. Nothing is built.
{ root }:
let
  lib = {
    genAttrs = names: make: builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
    makeBinPath = builtins.concatStringsSep ":";
    licenses = { mit = "MIT"; asl20 = "Apache-2.0"; };
  };
  pkgs = {
    inherit lib;
    rustPlatform.buildRustPackage = description: description;
    installShellFiles = "installShellFiles";
    makeWrapper = "makeWrapper";
    chromium = "chromium";
  };
  flake = import (root + "/flake.nix");
  outputs = flake.outputs {
    self = "source";
    nixpkgs = { inherit lib; legacyPackages = { x86_64-linux = pkgs; aarch64-linux = pkgs; }; };
  };
  read = system:
    let package = outputs.packages.${system}.default; in
    builtins.removeAttrs package [ "cargoLock" ] // { hasLock = builtins.pathExists package.cargoLock.lockFile; };
in
map read (builtins.attrNames outputs.packages)
