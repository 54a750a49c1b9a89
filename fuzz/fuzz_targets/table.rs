//! Fuzzes [`cento_fuzz::table`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::table(bytes));
