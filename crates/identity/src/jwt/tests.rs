//! What is believed and what is not: the vectors of Wycheproof for each algorithm, and tokens as attackers bend them.

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use serde_json::json;
use switchboard_testkit::fuzzing::fuzz;
use wycheproof::TestResult;

use super::*;

const CLAIMS: &str = r#"{"sub":"ann"}"#;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn every_algorithm() -> [Algorithm; 9] {
    Algorithm::ALL.map(|(_, algorithm)| algorithm)
}

fn key(jwk: Value) -> Option<Key> {
    Key::read(Jwk::deserialize(jwk).unwrap())
}

/// Without the zero that says that a number is positive: a JWK has none.
fn unsigned(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

/// Counts what was as it should be.
#[derive(Default)]
struct Agreement {
    valid: usize,
    invalid: usize,
}

impl Agreement {
    fn hold(
        &mut self,
        case: &str,
        algorithm: Algorithm,
        key: Option<&Key>,
        message: &[u8],
        signed: &[u8],
        result: TestResult,
    ) {
        let believed = key.is_some_and(|key| key.verify(algorithm, message, signed));
        match result {
            TestResult::Valid => {
                assert!(believed, "{case}");
                self.valid += 1;
            }
            TestResult::Invalid => {
                assert!(!believed, "{case}");
                self.invalid += 1;
            }
            TestResult::Acceptable => {}
        }
    }
}

#[test]
fn vectors_of_ed25519() {
    let mut agreement = Agreement::default();
    for group in wycheproof::eddsa::TestSet::load(wycheproof::eddsa::TestName::Ed25519).unwrap().test_groups {
        let key = key(json!({"kty": "OKP", "crv": "Ed25519", "x": encode(&group.key.pk[..])}));
        for case in group.tests {
            let name = format!("{} {}", case.tc_id, case.comment);
            agreement.hold(&name, Algorithm::EdDsa, key.as_ref(), &case.msg, &case.sig, case.result);
        }
    }
    assert!(agreement.valid > 50 && agreement.invalid > 50, "{} {}", agreement.valid, agreement.invalid);
}

#[test]
fn vectors_of_ecdsa() {
    use wycheproof::ecdsa::{TestName, TestSet};
    for (set, algorithm, curve, size) in [
        (TestName::EcdsaSecp256r1Sha256P1363, Algorithm::Es256, "P-256", 32),
        (TestName::EcdsaSecp384r1Sha384P1363, Algorithm::Es384, "P-384", 48),
    ] {
        let mut agreement = Agreement::default();
        for group in TestSet::load(set).unwrap().test_groups {
            let point = &group.key.key[..];
            assert_eq!((point[0], point.len()), (4, 1 + 2 * size));
            let (x, y) = point[1..].split_at(size);
            let key = key(json!({"kty": "EC", "crv": curve, "x": encode(x), "y": encode(y)}));
            for case in group.tests {
                let name = format!("{curve} {} {}", case.tc_id, case.comment);
                agreement.hold(&name, algorithm, key.as_ref(), &case.msg, &case.sig, case.result);
            }
        }
        assert!(agreement.valid > 50 && agreement.invalid > 50, "{} {}", agreement.valid, agreement.invalid);
    }
}

#[test]
fn vectors_of_rsa() {
    use wycheproof::rsa_pkcs1_verify as pkcs1;
    use wycheproof::rsa_pss_verify as pss;
    for (set, algorithm) in [
        (pkcs1::TestName::Rsa2048Sha256, Algorithm::Rs256),
        (pkcs1::TestName::Rsa2048Sha384, Algorithm::Rs384),
        (pkcs1::TestName::Rsa2048Sha512, Algorithm::Rs512),
        (pkcs1::TestName::Rsa4096Sha256, Algorithm::Rs256),
    ] {
        let mut agreement = Agreement::default();
        for group in pkcs1::TestSet::load(set).unwrap().test_groups {
            let (n, e) = (encode(unsigned(&group.key.n)), encode(unsigned(&group.key.e)));
            let key = key(json!({"kty": "RSA", "n": n, "e": e}));
            for case in group.tests {
                let name = format!("{set:?} {} {}", case.tc_id, case.comment);
                agreement.hold(&name, algorithm, key.as_ref(), &case.msg, &case.sig, case.result);
            }
        }
        assert!(agreement.valid > 0 && agreement.invalid > 50, "{} {}", agreement.valid, agreement.invalid);
    }
    for (set, algorithm) in [
        (pss::TestName::RsaPss2048Sha256Mgf1SaltLen32, Algorithm::Ps256),
        (pss::TestName::RsaPss2048Sha384Mgf1SaltLen48, Algorithm::Ps384),
        (pss::TestName::RsaPss4096Sha512Mgf1SaltLen64, Algorithm::Ps512),
    ] {
        let mut agreement = Agreement::default();
        for group in pss::TestSet::load(set).unwrap().test_groups {
            let (n, e) = (encode(unsigned(&group.key.n)), encode(unsigned(&group.key.e)));
            let key = key(json!({"kty": "RSA", "n": n, "e": e}));
            for case in group.tests {
                let name = format!("{set:?} {} {}", case.tc_id, case.comment);
                agreement.hold(&name, algorithm, key.as_ref(), &case.msg, &case.sig, case.result);
            }
        }
        assert!(agreement.valid > 0 && agreement.invalid > 20, "{} {}", agreement.valid, agreement.invalid);
    }
}

/// RFC 7515, A.3, and RFC 8037, A.4: tokens of the standards themselves.
#[test]
fn tokens_of_the_standards() {
    let es256 = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    let ed25519 = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    let keys = KeySet::read(&json!({"keys": [
        {"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
        {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
    ]}));
    let claims = |token| Presented::parse(token, &every_algorithm())?.verified(&keys);
    assert_eq!(claims(es256).unwrap()["iss"], "joe");
    // Its signature is good, and what it signs are no claims.
    assert_eq!(claims(ed25519), Err(Unbelievable::Shape));
}

/// An issuer with a key of two kinds, each with an id, and a stranger with a key of their own.
struct Keys {
    ed25519: Ed25519KeyPair,
    p256: EcdsaKeyPair,
    stranger: Ed25519KeyPair,
}

impl Keys {
    fn new() -> Self {
        Self {
            ed25519: Ed25519KeyPair::generate().unwrap(),
            p256: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
            stranger: Ed25519KeyPair::generate().unwrap(),
        }
    }

    fn published(&self) -> KeySet {
        let point = self.p256.public_key().as_ref();
        KeySet::read(&json!({"keys": [
            {"kty": "OKP", "crv": "Ed25519", "kid": "e", "x": encode(self.ed25519.public_key().as_ref())},
            {"kty": "EC", "crv": "P-256", "kid": "p", "alg": "ES256", "x": encode(&point[1..33]), "y": encode(&point[33..])},
        ]}))
    }

    fn believed(&self, token: &str) -> Result<Map<String, Value>, Unbelievable> {
        Presented::parse(token, &every_algorithm())?.verified(&self.published())
    }

    /// A token whose header and claims are these texts, signed by the issuer with Ed25519.
    fn eddsa(&self, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", encode(header), encode(claims));
        format!("{signed}.{}", encode(self.ed25519.sign(signed.as_bytes())))
    }

    fn es256(&self, header: &str) -> (String, Vec<u8>) {
        let signed = format!("{}.{}", encode(header), encode(CLAIMS));
        let signature = self.p256.sign(&SystemRandom::new(), signed.as_bytes()).unwrap().as_ref().to_vec();
        (signed, signature)
    }
}

#[test]
fn a_header_cannot_say_how_to_check_it() {
    use Unbelievable::{Algorithm, Critical, Shape, Signature, UnknownKey};
    let keys = Keys::new();
    assert!(keys.believed(&keys.eddsa(r#"{"alg":"EdDSA"}"#, CLAIMS)).is_ok());
    assert!(keys.believed(&keys.eddsa(r#"{"alg":"EdDSA","kid":"e","typ":"JWT","x":1,"x":2}"#, CLAIMS)).is_ok());
    for (header, why) in [
        (r#"{"alg":"none"}"#, Algorithm),
        (r#"{"alg":"None"}"#, Algorithm),
        (r#"{"alg":""}"#, Algorithm),
        (r#"{"alg":"HS256"}"#, Algorithm),
        (r#"{"alg":"eddsa"}"#, Algorithm),
        (r#"{"alg":"EdDSA "}"#, Algorithm),
        (r#"{"alg":"ES256K"}"#, Algorithm),
        (r#"{"alg":null}"#, Shape),
        (r#"{"alg":["EdDSA"]}"#, Shape),
        (r"{}", Shape),
        // Another key than that it was signed with, and other kinds of keys.
        (r#"{"alg":"EdDSA","kid":"p"}"#, UnknownKey),
        (r#"{"alg":"EdDSA","kid":"E"}"#, UnknownKey),
        (r#"{"alg":"EdDSA","kid":""}"#, UnknownKey),
        (r#"{"alg":"EdDSA","kid":"e\u0000"}"#, UnknownKey),
        (r#"{"alg":"EdDSA","kid":"../../dev/null"}"#, UnknownKey),
        (r#"{"alg":"EdDSA","kid":7}"#, Shape),
        (r#"{"alg":"ES256"}"#, Signature),
        (r#"{"alg":"ES256","kid":"e"}"#, UnknownKey),
        (r#"{"alg":"ES384"}"#, UnknownKey),
        (r#"{"alg":"RS256"}"#, UnknownKey),
        (r#"{"alg":"PS512","kid":"p"}"#, UnknownKey),
        // What stands twice is read by some from the left and by some from the right.
        (r#"{"alg":"EdDSA","alg":"EdDSA"}"#, Shape),
        (r#"{"alg":"none","alg":"EdDSA"}"#, Shape),
        (r#"{"alg":"EdDSA","kid":"p","kid":"e"}"#, Shape),
        (r#"{"alg":"EdDSA","\u0061lg":"none"}"#, Shape),
        // What must be understood is not.
        (r#"{"alg":"EdDSA","crit":["exp"],"exp":1}"#, Critical),
        (r#"{"alg":"EdDSA","crit":["b64"],"b64":false}"#, Critical),
        (r#"{"alg":"EdDSA","crit":[]}"#, Critical),
        (r#"{"alg":"EdDSA","crit":null}"#, Critical),
        (r#"{"alg":"EdDSA","typ":"dpop+jwt"}"#, Critical),
        (r#"{"alg":"EdDSA","typ":"logout+jwt"}"#, Critical),
        (r#"{"alg":"EdDSA","typ":"application/secevent+jwt"}"#, Critical),
        // Not one JSON object.
        (r#"{"alg":"EdDSA"}x"#, Shape),
        (r#"["EdDSA"]"#, Shape),
        ("\u{feff}{\"alg\":\"EdDSA\"}", Shape),
        ("", Shape),
    ] {
        assert_eq!(keys.believed(&keys.eddsa(header, CLAIMS)), Err(why), "{header}");
    }
}

#[test]
fn a_key_inside_a_token_is_no_key() {
    let keys = Keys::new();
    let own = encode(keys.stranger.public_key().as_ref());
    for header in [
        json!({"alg": "EdDSA", "jwk": {"kty": "OKP", "crv": "Ed25519", "x": own}}),
        json!({"alg": "EdDSA", "kid": "e", "jku": "https://stranger.example/keys"}),
        json!({"alg": "EdDSA", "x5u": "https://stranger.example/chain", "x5c": [own]}),
    ] {
        let signed = format!("{}.{}", encode(header.to_string()), encode(CLAIMS));
        let token = format!("{signed}.{}", encode(keys.stranger.sign(signed.as_bytes())));
        assert_eq!(keys.believed(&token), Err(Unbelievable::Signature), "{header}");
    }
}

/// The public key as the secret of an HMAC: the classic confusion.
#[test]
fn a_public_key_is_no_secret() {
    let keys = Keys::new();
    let public = keys.ed25519.public_key();
    for secret in [public.as_ref().to_vec(), encode(public.as_ref()).into_bytes(), Vec::new()] {
        let signed = format!("{}.{}", encode(r#"{"alg":"HS256","kid":"e"}"#), encode(CLAIMS));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), signed.as_bytes());
        assert_eq!(keys.believed(&format!("{signed}.{}", encode(tag))), Err(Unbelievable::Algorithm));
    }
    let shared = json!({"keys": [{"kty": "oct", "alg": "HS256", "k": encode("secret")}]});
    assert!(KeySet::read(&shared).is_empty());
}

#[test]
fn signatures_have_one_length_and_one_form() {
    let keys = Keys::new();
    let (signed, good) = keys.es256(r#"{"alg":"ES256"}"#);
    let with = |signature: &[u8]| keys.believed(&format!("{signed}.{}", encode(signature)));
    assert!(with(&good).is_ok());
    let same = keys.p256.to_pkcs8v1().unwrap();
    let der = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, same.as_ref()).unwrap();
    let der = der.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
    for (case, signature) in [
        ("none", Vec::new()),
        ("zeros", vec![0; 64]),
        ("one short", good[..63].to_vec()),
        ("one long", [&good[..], &[0]].concat()),
        ("a zero before", [&[0], &good[..]].concat()),
        ("half", good[..32].to_vec()),
        ("twice", [&good[..], &good[..]].concat()),
        ("halves exchanged", [&good[32..], &good[..32]].concat()),
        ("DER", der.as_ref().to_vec()),
    ] {
        assert_eq!(with(&signature), Err(Unbelievable::Signature), "{case}");
    }
    let token = keys.eddsa(r#"{"alg":"EdDSA"}"#, CLAIMS);
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let good = URL_SAFE_NO_PAD.decode(signature).unwrap();
    for changed in [good[..63].to_vec(), [&good[..], &[0]].concat(), Vec::new(), vec![0; 64]] {
        assert_eq!(keys.believed(&format!("{signed}.{}", encode(changed))), Err(Unbelievable::Signature));
    }
    for at in 0..good.len() {
        let mut changed = good.clone();
        changed[at] ^= 1;
        assert_eq!(keys.believed(&format!("{signed}.{}", encode(changed))), Err(Unbelievable::Signature), "{at}");
    }
}

#[test]
fn a_token_has_one_spelling() {
    let keys = Keys::new();
    let token = keys.eddsa(r#"{"alg":"EdDSA"}"#, r#"{"sub":"ann","x":"??>>"}"#);
    assert!(keys.believed(&token).is_ok());
    let parts: Vec<&str> = token.split('.').collect();
    let [header, claims, signature] = parts[..] else { panic!("three parts") };
    // 64 bytes are 86 letters: the last holds four bits that mean nothing, and must be zero.
    let (most, last) = signature.split_at(signature.len() - 1);
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let next = letters[letters.find(last).unwrap() + 1..].chars().next().unwrap();
    for bent in [
        format!("{header}.{claims}.{most}{next}"),
        format!("{token}="),
        format!("{token}=="),
        format!("{header}=.{claims}.{signature}"),
        format!("{header}.{claims}.{signature}\n"),
        format!(" {token}"),
        format!("{header}.{claims}.{signature}."),
        format!("{header}.{claims}..{signature}"),
        format!("{header}.{claims}.{signature}.{signature}.{signature}"),
        format!("{header}.{claims}"),
        format!("{claims}.{signature}"),
        format!(".{claims}.{signature}"),
        String::new(),
        "..".to_owned(),
        format!("{header}.{claims}.{}", "A".repeat(MAX_TOKEN_BYTES)),
    ] {
        assert_eq!(keys.believed(&bent), Err(Unbelievable::Shape), "{bent:.120}");
    }
    // The letters of the other alphabet.
    if signature.contains(['-', '_']) {
        let other = format!("{header}.{claims}.{}", signature.replace('-', "+").replace('_', "/"));
        assert_eq!(keys.believed(&other), Err(Unbelievable::Shape));
    }
    // Unsigned, and signed for other claims.
    assert_eq!(keys.believed(&format!("{header}.{claims}.")), Err(Unbelievable::Signature));
    assert_eq!(keys.believed(&format!("{header}.\t{claims}.{signature}")), Err(Unbelievable::Signature));
    let other = encode(r#"{"sub":"bob"}"#);
    assert_eq!(keys.believed(&format!("{header}.{other}.{signature}")), Err(Unbelievable::Signature));
}

/// Readers differ in which of two members counts: an issuer that writes two may have been made to.
#[test]
fn claims_are_one_object_without_twins() {
    let keys = Keys::new();
    for claims in [
        r#"["sub"]"#,
        "null",
        "",
        r#"{"sub":"ann"} {}"#,
        r#"{"sub":"ann","sub":"root"}"#,
        r#"{"sub":"ann","\u0073ub":"root"}"#,
        r#"{"exp":1,"sub":"ann","exp":99999999999}"#,
    ] {
        assert_eq!(keys.believed(&keys.eddsa(r#"{"alg":"EdDSA"}"#, claims)), Err(Unbelievable::Shape), "{claims}");
    }
    let nested = r#"{"sub":"ann","a":{"b":1,"c":[{"b":1}]},"n":12345678901234567890123}"#;
    assert!(keys.believed(&keys.eddsa(r#"{"alg":"EdDSA"}"#, nested)).is_ok());
}

#[test]
fn odd_keys_are_left_out() {
    let point = encode([7; 32]);
    for jwk in [
        json!({"kty": "OKP", "crv": "Ed25519", "x": encode([7; 31])}),
        json!({"kty": "OKP", "crv": "Ed25519", "x": encode([7; 33])}),
        json!({"kty": "OKP", "crv": "X25519", "x": point}),
        json!({"kty": "OKP", "crv": "Ed25519", "x": format!("{point}=")}),
        json!({"kty": "EC", "crv": "P-256", "x": point}),
        json!({"kty": "EC", "crv": "P-256", "x": encode([7; 31]), "y": encode([7; 33])}),
        json!({"kty": "EC", "crv": "P-384", "x": point, "y": point}),
        json!({"kty": "EC", "crv": "secp256k1", "x": point, "y": point}),
        json!({"kty": "RSA", "n": "", "e": "AQAB"}),
        json!({"kty": "RSA", "n": point}),
        json!({"kty": "RSA", "n": point, "e": "AQAB", "use": "enc"}),
        json!({"kty": "RSA", "n": point, "e": "AQAB", "alg": "RSA-OAEP"}),
        json!({"kty": "oct", "k": point}),
        json!({"kty": "rsa", "n": point, "e": "AQAB"}),
    ] {
        assert!(key(jwk.clone()).is_none(), "{jwk}");
    }
    // A point that is on no curve, and a modulus that is too short, are keys that believe nothing.
    for (jwk, algorithm) in [
        (json!({"kty": "EC", "crv": "P-256", "x": point, "y": point}), Algorithm::Es256),
        (json!({"kty": "RSA", "n": encode([0xff; 128]), "e": "AQAB"}), Algorithm::Rs256),
        (json!({"kty": "RSA", "n": encode([0xff; 256]), "e": "AQ"}), Algorithm::Rs256),
    ] {
        let key = key(jwk.clone()).unwrap();
        assert!(!key.verify(algorithm, b"", &[0; 64]) && !key.verify(algorithm, b"", &[0; 256]), "{jwk}");
    }
}

#[test]
fn fuzz_tokens() {
    let keys = r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    let keys = KeySet::read(&serde_json::from_str(keys).unwrap());
    assert!(!keys.is_empty());
    fuzz("jwt", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Ok(token) = Presented::parse(&text, &every_algorithm()) {
            assert!(token.verified(&keys).is_err(), "nobody has the key");
        }
    });
}

#[test]
fn fuzz_key_sets() {
    fuzz("key_sets", |bytes| {
        if let Ok(document) = serde_json::from_slice::<Value>(bytes) {
            let _ = KeySet::read(&document);
        }
    });
}
