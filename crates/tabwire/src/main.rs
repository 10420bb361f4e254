//! The `tabwire` program. The code is in the library.

fn main() -> std::process::ExitCode {
    tabwire::main()
}
