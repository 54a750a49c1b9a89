//! Names and URLs of files.

use std::fmt::Write;
use std::path::{Component, Path};

use crate::Error;

/// Formats a path for messages and tables: as specified, without redundant parts (`./`, `//`), with
/// `/` as separator.
pub(super) fn shown(path: &Path) -> String {
    let mut name = String::new();
    for component in path.components() {
        let part = match component {
            Component::CurDir => continue,
            Component::RootDir => {
                name.push('/');
                continue;
            }
            Component::Prefix(prefix) => prefix.as_os_str(),
            Component::ParentDir | Component::Normal(_) => component.as_os_str(),
        };
        if !name.is_empty() && !name.ends_with('/') {
            name.push('/');
        }
        // Names that differ only in bytes that are not UTF-8 must not be displayed alike.
        for chunk in part.as_encoded_bytes().utf8_chunks() {
            name.push_str(chunk.valid());
            for byte in chunk.invalid() {
                // Writing to a string cannot fail.
                let _ = write!(name, "%{byte:02X}");
            }
        }
    }
    name
}

/// Checks that a base URL is absolute.
pub(super) fn check_base(base: &str) -> Result<(), Error> {
    let absolute = base.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
            && rest.len() > 2
            && rest.starts_with("//")
            && !rest.contains(char::is_whitespace)
    });
    if absolute {
        Ok(())
    } else {
        Err(Error::BadBaseUrl { typed: base.into() })
    }
}

/// Joins a base URL and a relative path.
pub(super) fn joined(base: &str, relative: &str) -> String {
    let mut url = base.to_owned();
    if !url.ends_with('/') {
        url.push('/');
    }
    let mut first = true;
    for part in relative.split('/') {
        // The result is always below the base.
        if part.is_empty() || part == ".." {
            continue;
        }
        if !first {
            url.push('/');
        }
        first = false;
        for byte in part.bytes() {
            // The characters that the standard allows in a path. A percent sign in a file name is
            // escaped like others.
            if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
                url.push(char::from(byte));
            } else {
                let _ = write!(url, "%{byte:02X}");
            }
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_displayed_without_redundant_parts() {
        for (path, name) in [
            ("a/b.html", "a/b.html"),
            ("./a//b.html", "a/b.html"),
            ("a/./b.html", "a/b.html"),
            ("../a/b.html", "../a/b.html"),
            ("/a/b.html", "/a/b.html"),
        ] {
            assert_eq!(shown(Path::new(path)), name);
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_remain_distinct() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let name = |bytes: &[u8]| shown(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(name(b"caf\xe9"), "caf%E9");
        assert_ne!(name(b"caf\xe9"), name(b"caf\xe8"));
    }

    #[test]
    fn the_url_of_a_file_is_the_base_and_its_escaped_path() {
        for (base, relative, url) in [
            ("https://a.org", "b/c.html", "https://a.org/b/c.html"),
            ("https://a.org/x/", "c d.html", "https://a.org/x/c%20d.html"),
            ("https://a.org/x", "50%.html", "https://a.org/x/50%25.html"),
            (
                "https://a.org/",
                "a?b#c.html",
                "https://a.org/a%3Fb%23c.html",
            ),
            (
                "https://a.org/",
                "größe.html",
                "https://a.org/gr%C3%B6%C3%9Fe.html",
            ),
            ("https://a.org/", "../b.html", "https://a.org/b.html"),
            ("https://a.org/", "/tmp/b.html", "https://a.org/tmp/b.html"),
        ] {
            assert_eq!(joined(base, relative), url);
        }
    }

    #[test]
    fn a_base_url_must_be_absolute() {
        for good in ["https://a.org", "http://a/", "ftp://a/b/c"] {
            assert!(check_base(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a.org",
            "//a.org",
            "https:a",
            "https://",
            "http://a b",
            "1http://a",
        ] {
            assert!(check_base(bad).is_err(), "{bad}");
        }
    }
}
