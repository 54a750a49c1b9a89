//! Fuzzes [`cento_fuzz::wacz`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::wacz(bytes));
