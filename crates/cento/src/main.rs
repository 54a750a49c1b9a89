//! cento
fn main() {}
