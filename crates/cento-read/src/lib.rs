//! cento-read
