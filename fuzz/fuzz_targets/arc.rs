//! Fuzzes [`cento_fuzz::arc`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::arc(bytes));
