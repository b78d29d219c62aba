//! Where servers are configured.
