//! cento-print
