//! Fuzzes [`cento_fuzz::html`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::html(bytes));
