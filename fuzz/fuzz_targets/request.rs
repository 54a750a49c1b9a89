//! Fuzzes [`cento_fuzz::request`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::request(bytes));
