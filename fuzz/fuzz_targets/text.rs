//! Fuzzes [`cento_fuzz::text`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::text(bytes));
