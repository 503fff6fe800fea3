//! Signed tokens (RFC 7515, 7517, 7519): taken apart, and their signatures checked. Pure: keys and tokens are arguments.
//!
//! The algorithm is chosen by the operator's list and by the key, and a token may only agree. There is no way to say
//! `none`, and no secret that both sides share.

use std::fmt;

use aws_lc_rs::signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Bytes of one token at most.
const MAX_TOKEN_BYTES: usize = 16 << 10;
/// Keys of one issuer at most.
const MAX_KEYS: usize = 100;

/// Why a token is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unbelievable {
    #[error("it is no signed token")]
    Shape,
    #[error("its algorithm is not allowed")]
    Algorithm,
    #[error("it asks for something that is not understood here")]
    Critical,
    #[error("it was signed with a key that the issuer does not publish")]
    UnknownKey,
    #[error("its signature is wrong")]
    Signature,
}

/// A token taken apart. Nothing of it is believed yet.
#[derive(Debug)]
pub(crate) struct Presented<'a> {
    algorithm: Algorithm,
    key_id: Option<String>,
    signed: &'a str,
    claims: &'a str,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    /// Whether it is there, whatever it says.
    #[serde(default, deserialize_with = "is_there")]
    crit: bool,
}

fn is_there<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(value).map(|_| true)
}

/// Claims, each of which stands once: readers differ in which of two counts.
struct Claims(Map<String, Value>);

impl<'de> Deserialize<'de> for Claims {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Claims;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Claims, A::Error> {
                let mut claims = Map::new();
                while let Some((name, value)) = members.next_entry::<String, Value>()? {
                    if claims.insert(name, value).is_some() {
                        return Err(A::Error::custom("a claim stands twice"));
                    }
                }
                Ok(Claims(claims))
            }
        }

        value.deserialize_map(Members)
    }
}

/// A signature algorithm with a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

impl Algorithm {
    const ALL: [(&'static str, Self); 9] = [
        ("RS256", Self::Rs256),
        ("RS384", Self::Rs384),
        ("RS512", Self::Rs512),
        ("PS256", Self::Ps256),
        ("PS384", Self::Ps384),
        ("PS512", Self::Ps512),
        ("ES256", Self::Es256),
        ("ES384", Self::Es384),
        ("EdDSA", Self::EdDsa),
    ];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }

    const fn rsa(self) -> Option<&'static RsaParameters> {
        Some(match self {
            Self::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Self::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Self::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Self::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
            Self::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
            Self::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
            Self::Es256 | Self::Es384 | Self::EdDsa => return None,
        })
    }
}

impl<'a> Presented<'a> {
    /// Takes a token apart, if it is signed with an algorithm that is allowed.
    pub(crate) fn parse(token: &'a str, allowed: &[Algorithm]) -> Result<Self, Unbelievable> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(Unbelievable::Shape);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Unbelievable::Shape)?;
        let (header, claims) = signed.split_once('.').ok_or(Unbelievable::Shape)?;
        if claims.contains('.') {
            return Err(Unbelievable::Shape);
        }
        let header: Header = serde_json::from_slice(&bytes(header)?).map_err(|_| Unbelievable::Shape)?;
        if header.crit {
            return Err(Unbelievable::Critical);
        }
        // Proofs and logout tokens are signed by the same keys and mean something else.
        let kind = header.typ.as_deref().map(|kind| kind.trim_start_matches("application/").to_ascii_lowercase());
        if kind.is_some_and(|kind| kind != "jwt" && kind != "at+jwt") {
            return Err(Unbelievable::Critical);
        }
        let algorithm = Algorithm::parse(&header.alg).filter(|algorithm| allowed.contains(algorithm));
        let algorithm = algorithm.ok_or(Unbelievable::Algorithm)?;
        Ok(Self { algorithm, key_id: header.kid, signed, claims, signature: bytes(signature)? })
    }

    /// The claims, if the token was signed with one of these keys.
    pub(crate) fn verified(&self, keys: &KeySet) -> Result<Map<String, Value>, Unbelievable> {
        let mut tried = false;
        for key in keys.0.iter().filter(|key| key.suits(self.algorithm, self.key_id.as_deref())) {
            tried = true;
            if key.verify(self.algorithm, self.signed.as_bytes(), &self.signature) {
                let claims: Claims = serde_json::from_slice(&bytes(self.claims)?).map_err(|_| Unbelievable::Shape)?;
                return Ok(claims.0);
            }
        }
        Err(if tried { Unbelievable::Signature } else { Unbelievable::UnknownKey })
    }
}

fn bytes(text: &str) -> Result<Vec<u8>, Unbelievable> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Unbelievable::Shape)
}

/// The keys of an issuer that can check signatures. Others are left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KeySet(Vec<Key>);

#[derive(Debug, PartialEq, Eq)]
struct Key {
    id: Option<String>,
    /// The only algorithm it is for, where it says so.
    algorithm: Option<Algorithm>,
    material: Material,
}

#[derive(Debug, PartialEq, Eq)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// RFC 7517 and 7518, as far as public keys go.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Reads a JSON Web Key Set.
    pub(crate) fn read(document: &Value) -> Self {
        let keys = document.get("keys").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let known = keys.iter().take(MAX_KEYS).filter_map(|key| Jwk::deserialize(key).ok()).filter_map(Key::read);
        Self(known.collect())
    }

    /// Whether there is none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Key {
    fn read(key: Jwk) -> Option<Self> {
        let Jwk { kty, kid, alg, usage, crv, n, e, x, y } = key;
        if usage.is_some_and(|usage| usage != "sig") {
            return None;
        }
        let algorithm = match alg {
            // A key for an algorithm that we do not have is none for us.
            Some(name) => Some(Algorithm::parse(&name)?),
            None => None,
        };
        let part = |text: Option<String>| text.and_then(|text| bytes(&text).ok()).filter(|bytes| !bytes.is_empty());
        let point = |size: usize, x: Vec<u8>, y: Vec<u8>| {
            // Fixed lengths: a shorter number would name another point.
            (x.len() == size && y.len() == size).then(|| [&[4][..], &x, &y].concat())
        };
        let material = match (kty.as_str(), crv.as_deref()) {
            ("RSA", _) => Material::Rsa { n: part(n)?, e: part(e)? },
            ("EC", Some("P-256")) => Material::P256(point(32, part(x)?, part(y)?)?),
            ("EC", Some("P-384")) => Material::P384(point(48, part(x)?, part(y)?)?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(part(x).filter(|key| key.len() == 32)?),
            _ => return None,
        };
        Some(Self { id: kid, algorithm, material })
    }

    fn suits(&self, algorithm: Algorithm, id: Option<&str>) -> bool {
        let kind = match self.material {
            Material::Rsa { .. } => algorithm.rsa().is_some(),
            Material::P256(_) => algorithm == Algorithm::Es256,
            Material::P384(_) => algorithm == Algorithm::Es384,
            Material::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        let named = id.is_none_or(|id| self.id.as_deref() == Some(id));
        kind && named && self.algorithm.is_none_or(|only| only == algorithm)
    }

    fn verify(&self, algorithm: Algorithm, message: &[u8], signed: &[u8]) -> bool {
        let with = |scheme: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(scheme, key).verify(message, signed).is_ok()
        };
        match &self.material {
            Material::Rsa { n, e } => algorithm
                .rsa()
                .is_some_and(|scheme| RsaPublicKeyComponents { n, e }.verify(scheme, message, signed).is_ok()),
            Material::P256(point) => with(&signature::ECDSA_P256_SHA256_FIXED, point),
            Material::P384(point) => with(&signature::ECDSA_P384_SHA384_FIXED, point),
            Material::Ed25519(key) => with(&signature::ED25519, key),
        }
    }
}

#[cfg(test)]
mod tests;
