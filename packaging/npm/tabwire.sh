#!/bin/sh
# Runs the Tabwire of this machine's platform package. A shell script, because Node cannot replace itself by a program:
# this one starts in 2 ms, and signals and pipes reach the program itself.
file=$0
while [ -L "$file" ]; do
	target=$(readlink "$file")
	case "$target" in /*) file=$target ;; *) file=${file%/*}/$target ;; esac
done
case "$file" in */*) folder=${file%/*}/.. ;; *) folder=.. ;; esac
case "$(uname -sm)" in
"Linux x86_64") platform=linux-x64 ;;
"Linux aarch64") platform=linux-arm64 ;;
"Darwin x86_64") platform=darwin-x64 ;;
"Darwin arm64") platform=darwin-arm64 ;;
*) platform=$(uname -sm) ;;
esac
for packages in "$folder/node_modules" "$folder/.."; do
	program="$packages/@tabwire/$platform/bin/tabwire"
	if [ -x "$program" ]; then
		exec "$program" "$@"
	fi
done
echo "tabwire: the package @tabwire/$platform is missing. Install it again without --omit=optional; other platforms build from source." >&2
exit 1
