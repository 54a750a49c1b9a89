//! Fuzzes [`cento_fuzz::response`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::response(bytes));
