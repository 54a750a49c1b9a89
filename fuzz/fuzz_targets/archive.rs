//! Fuzzes [`cento_fuzz::archive`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::archive(bytes));
