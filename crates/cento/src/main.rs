//! The program `cento`. Everything is in the library, which the Python package also calls.

fn main() -> std::process::ExitCode {
    cento::main()
}
