//! Fuzzes [`cento_fuzz::address`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::address(bytes));
