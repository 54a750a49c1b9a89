//! Fuzzes [`cento_fuzz::lines`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::lines(bytes));
