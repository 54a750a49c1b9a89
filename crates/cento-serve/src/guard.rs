//! Who may ask: the checks that every request passes, and the headers that every response has.
//!
//! * **Host.** The name in the `Host` header must be one of ours. Otherwise a page of a stranger
//!   could rebind its own name to this address and read the site in the name of the visitor.
//! * **Origin.** A request that a browser sends on behalf of another site is refused, except for
//!   following a link.
//! * **Token.** If there is a token, every request has it, in a header or in a cookie.
//! * **Policy.** A response may load style sheets and modules of this site and nothing else.

use std::net::IpAddr;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use crate::error::Refusal;

/// The name of the cookie with the proof of the token.
pub(crate) const SESSION_COOKIE: &str = "cento_token";

/// The headers of every response.
pub(crate) const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'",
    ),
    ("x-content-type-options", "nosniff"),
    // Not `no-referrer`: with it, browsers send `Origin: null` with the forms of the site itself.
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=()",
    ),
];

/// Adds the headers of every response.
pub(crate) fn protect(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
}

/// The rules for requests.
#[derive(Debug)]
pub(crate) struct Gatekeeper {
    /// The names of the server, in lower case.
    names: Vec<String>,
    /// Whether any address is a name of the server: it listens on all of them.
    any_address: bool,
    /// The hash of the token.
    token: Option<blake3::Hash>,
}

impl Gatekeeper {
    pub(crate) fn new(address: IpAddr, names: &[String], token: Option<&str>) -> Gatekeeper {
        let mut all = vec![address.to_string()];
        if address.is_loopback() {
            all.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        }
        all.extend(names.iter().map(|name| name.to_lowercase()));
        Gatekeeper {
            names: all,
            any_address: address.is_unspecified(),
            token: token.map(|token| blake3::hash(token.as_bytes())),
        }
    }

    /// Refuses a request that the rules forbid.
    pub(crate) fn check(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        let host = self.check_host(headers)?;
        check_origin(method, headers, host)?;
        // Assets and the form to enter the token contain nothing of the corpus.
        let open = path == "/login" || path == "/health" || path.starts_with("/assets/");
        if open || self.has_token(headers) {
            return Ok(());
        }
        Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "This site needs a token: enter it at /login, or send it as `Authorization: Bearer TOKEN`.",
        ))
    }

    fn check_host<'a>(&self, headers: &'a HeaderMap) -> Result<&'a str, Refusal> {
        let refused = || {
            Refusal::new(
                StatusCode::MISDIRECTED_REQUEST,
                "The request names another server. Use the address that `cento serve` printed, or \
                 add the name with --host.",
            )
        };
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(refused());
        };
        let host = host.to_str().map_err(|_| refused())?;
        let authority: Authority = host.parse().map_err(|_| refused())?;
        if host.contains('@') {
            return Err(refused());
        }
        let name = authority.host().trim_matches(['[', ']']).to_lowercase();
        let is_address = self.any_address && name.parse::<IpAddr>().is_ok();
        match is_address || self.names.contains(&name) {
            true => Ok(host),
            false => Err(refused()),
        }
    }

    /// Whether a request has the token, or none is needed.
    pub(crate) fn has_token(&self, headers: &HeaderMap) -> bool {
        let Some(expected) = self.token else {
            return true;
        };
        let bearer = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "))
            // Hashes are compared in constant time.
            .is_some_and(|token| blake3::hash(token.as_bytes()) == expected);
        let proof = self.proof();
        let cookies = headers.get_all(COOKIE).iter();
        let mut cookies = cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(name, _)| *name == SESSION_COOKIE)
            .filter_map(|(_, value)| blake3::Hash::from_hex(value).ok());
        bearer || cookies.any(|value| proof == Some(value))
    }

    /// Whether this is the token.
    pub(crate) fn is_token(&self, token: &str) -> bool {
        self.token == Some(blake3::hash(token.as_bytes()))
    }

    /// Returns the content of the cookie: a hash, so that the token itself is not stored in the
    /// browser.
    pub(crate) fn proof(&self) -> Option<blake3::Hash> {
        let token = self.token?;
        Some(blake3::keyed_hash(token.as_bytes(), b"cento serve cookie"))
    }

    /// Whether the site has a token.
    pub(crate) fn needs_token(&self) -> bool {
        self.token.is_some()
    }
}

/// Refuses requests that a browser sends on behalf of another site. A program that is not a browser
/// sends neither header.
fn check_origin(method: &Method, headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
    let refused = || {
        Refusal::new(
            StatusCode::FORBIDDEN,
            "The request comes from another site.",
        )
    };
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let safe = method == Method::GET || method == Method::HEAD;
    match header("sec-fetch-site") {
        None | Some("same-origin" | "none") => {}
        // Somebody followed a link: the page opens in a window of its own.
        Some(_)
            if safe
                && header("sec-fetch-mode") == Some("navigate")
                && header("sec-fetch-dest") == Some("document") => {}
        Some(_) => return Err(refused()),
    }
    match headers.get(ORIGIN).map(HeaderValue::to_str) {
        None => Ok(()),
        Some(Ok(origin)) => {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            match authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host)) {
                true => Ok(()),
                false => Err(refused()),
            }
        }
        Some(Err(_)) => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        headers
    }

    fn keeper(token: Option<&str>) -> Gatekeeper {
        Gatekeeper::new(IpAddr::from([127, 0, 0, 1]), &[], token)
    }

    fn status(keeper: &Gatekeeper, method: &Method, pairs: &[(&'static str, &str)]) -> u16 {
        let outcome = keeper.check(method, "/lists/quilts", &headers(pairs));
        outcome.map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
    }

    #[test]
    fn only_our_own_names_are_accepted_as_host() {
        let keeper = keeper(None);
        for host in [
            "127.0.0.1:8000",
            "localhost:8000",
            "LOCALHOST",
            "[::1]:8000",
        ] {
            assert_eq!(
                status(&keeper, &Method::GET, &[("host", host)]),
                200,
                "{host}"
            );
        }
        for host in [
            "evil.example",
            "evil.example:8000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "me@localhost",
            "",
            "a b",
        ] {
            assert_eq!(
                status(&keeper, &Method::GET, &[("host", host)]),
                421,
                "{host}"
            );
        }
        assert_eq!(status(&keeper, &Method::GET, &[]), 421);
        let two = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(status(&keeper, &Method::GET, &two), 421);
    }

    #[test]
    fn a_server_on_all_addresses_accepts_addresses_and_given_names() {
        let names = ["cento.example".to_owned()];
        let keeper = Gatekeeper::new(IpAddr::from([0, 0, 0, 0]), &names, None);
        for (host, expected) in [
            ("192.0.2.7:8000", 200),
            ("cento.example", 200),
            ("evil.example", 421),
        ] {
            assert_eq!(status(&keeper, &Method::GET, &[("host", host)]), expected);
        }
    }

    #[test]
    fn requests_on_behalf_of_other_sites_are_refused() {
        let keeper = keeper(None);
        let host = ("host", "localhost:8000");
        let ours = ("origin", "http://localhost:8000");
        assert_eq!(status(&keeper, &Method::POST, &[host]), 200);
        assert_eq!(status(&keeper, &Method::POST, &[host, ours]), 200);
        for origin in [
            "http://evil.example",
            "null",
            "http://localhost:9999",
            "localhost:8000",
        ] {
            let pairs = [host, ("origin", origin)];
            assert_eq!(status(&keeper, &Method::POST, &pairs), 403, "{origin}");
            assert_eq!(status(&keeper, &Method::GET, &pairs), 403, "{origin}");
        }
        let cross = ("sec-fetch-site", "cross-site");
        assert_eq!(status(&keeper, &Method::GET, &[host, cross]), 403);
        let link = [
            host,
            cross,
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(status(&keeper, &Method::GET, &link), 200);
        assert_eq!(status(&keeper, &Method::POST, &link), 403);
        let frame = [
            host,
            cross,
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe"),
        ];
        assert_eq!(status(&keeper, &Method::GET, &frame), 403);
    }

    #[test]
    fn a_token_is_required_in_a_header_or_as_the_proof_in_a_cookie() {
        let token = "0123456789abcdef";
        let keeper = keeper(Some(token));
        let host = ("host", "localhost");
        assert_eq!(status(&keeper, &Method::GET, &[host]), 401);
        let bearer = format!("Bearer {token}");
        assert_eq!(
            status(&keeper, &Method::GET, &[host, ("authorization", &bearer)]),
            200
        );
        let wrong = ("authorization", "Bearer 0123456789abcdeF");
        assert_eq!(status(&keeper, &Method::GET, &[host, wrong]), 401);
        let proof = keeper.proof().unwrap().to_hex();
        let cookie = format!("a=b; {SESSION_COOKIE}={proof}");
        assert_eq!(
            status(&keeper, &Method::GET, &[host, ("cookie", &cookie)]),
            200
        );
        let stolen = format!("{SESSION_COOKIE}={token}");
        assert_eq!(
            status(&keeper, &Method::GET, &[host, ("cookie", &stolen)]),
            401
        );
    }
}
