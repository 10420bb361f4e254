#!/bin/sh
# Installs Tabwire into a home directory, without root. Also removes it.
#
#   ./install.sh                  install into ~/.local
#   ./install.sh --prefix DIR     install into DIR
#   ./install.sh --uninstall      remove the program; sessions, logins and settings stay
#
# Stands in the unpacked tarball, or beside the tarball and SHA256SUMS.
set -eu

case "$(uname -sm)" in
"Linux x86_64") platform=linux-x64 ;;
"Linux aarch64") platform=linux-arm64 ;;
"Darwin x86_64") platform=darwin-x64 ;;
"Darwin arm64") platform=darwin-arm64 ;;
*) platform=unknown ;;
esac
NAME="tabwire-{{version}}-$platform"
LIST="share/tabwire/installed-files"

fail() {
	echo "install.sh: $1" >&2
	exit 1
}

check_sums() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum --check --status "$1"
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 --check --status "$1"
	else
		fail "neither sha256sum nor shasum is installed: the files cannot be checked"
	fi
}

# Removes the files that an installation has listed, and folders that are empty then.
uninstall() {
	[ -f "$prefix/$LIST" ] || fail "no Tabwire is installed in $prefix"
	if [ -x "$prefix/bin/tabwire" ]; then
		"$prefix/bin/tabwire" daemon stop >/dev/null 2>&1 || true
	fi
	while IFS= read -r file; do
		case "$file" in /* | *..*) fail "the list of files names $file" ;; esac
		rm -f "$prefix/$file"
	done <"$prefix/$LIST"
	sort -r "$prefix/$LIST" | while IFS= read -r file; do
		folder=$(dirname "$file")
		while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do
			folder=$(dirname "$folder")
		done
	done
	rm -f "$prefix/$LIST"
	for folder in share/tabwire share bin; do
		rmdir "$prefix/$folder" 2>/dev/null || true
	done
}

# Copies to a name of its own first: a running program is replaced, never written into.
install_files() {
	check_sums SHA256SUMS || fail "the sums in SHA256SUMS do not match: download it again"
	[ ! -f "$prefix/$LIST" ] || (cd "$prefix" && while IFS= read -r file; do
		case "$file" in /* | *..* | bin/tabwire) ;; *) rm -f "./$file" ;; esac
	done <"$LIST")
	cut -c 67- SHA256SUMS | while IFS= read -r file; do
		mkdir -p "$prefix/$(dirname "$file")"
		cp "$file" "$prefix/$file.new"
		mv "$prefix/$file.new" "$prefix/$file"
	done
	chmod 755 "$prefix/bin/tabwire"
	mkdir -p "$prefix/share/tabwire"
	cut -c 67- SHA256SUMS >"$prefix/$LIST"
}

prefix="${HOME:?}/.local"
action=install
while [ $# -gt 0 ]; do
	case "$1" in
	--prefix)
		[ $# -ge 2 ] || fail "--prefix needs a directory"
		prefix=$2
		shift
		;;
	--uninstall) action=uninstall ;;
	*) fail "unknown option $1; known are --prefix DIR and --uninstall" ;;
	esac
	shift
done
case "$prefix" in /*) ;; *) prefix="$PWD/$prefix" ;; esac

if [ "$action" = uninstall ]; then
	uninstall
	echo "Tabwire was removed from $prefix. Sessions, logins and settings are kept."
	exit 0
fi

cd "$(dirname "$0")"
if [ -f bin/tabwire ]; then
	install_files
else
	[ -f "$NAME.tar.gz" ] || fail "$NAME.tar.gz is not beside this script"
	[ -f SHA256SUMS ] || fail "SHA256SUMS is not beside this script"
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	grep "  $NAME.tar.gz\$" SHA256SUMS >"$folder/sum" || fail "SHA256SUMS does not name $NAME.tar.gz"
	check_sums "$folder/sum" || fail "the sum of $NAME.tar.gz does not match: download it again"
	tar xzf "$NAME.tar.gz" -C "$folder"
	cd "$folder/$NAME"
	install_files
fi

echo "Tabwire {{version}} is installed: $prefix/bin/tabwire"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "Add $prefix/bin to your PATH." ;;
esac
