//! The `tabwire` program: everything is in the library beside it.

fn main() -> std::process::ExitCode {
    tabwire::main()
}
