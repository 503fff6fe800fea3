//! Names of columns and tables that tell what they hold: passwords, keys, codes, and whatever opens a session. In whatever way
//! the words are joined, and in more languages than one.

/// Parts of names of columns, wherever they stand in one that is written without its underscores.
const PARTS: &[&str] = &[
    "passw",
    "passphrase",
    "passcode",
    "pwdhash",
    "pswd",
    "psswd",
    "pwrd",
    "upass",
    "twofa",
    "twofactor",
    "bearer",
    "hmac",
    "privatepem",
    "backupkey",
    "sharedsecret",
    "sslkey",
    "kodewort",
    "codewort",
    "lozink",
    "sifra",
    "tajna",
    "clavedeacceso",
    "claveacceso",
    "secret",
    "apikey",
    "apitoken",
    "accesskey",
    "privatekey",
    "privkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "authkey",
    "hmackey",
    "accesstoken",
    "refreshtoken",
    "sessiontoken",
    "authtoken",
    "bearertoken",
    "idtoken",
    "resettoken",
    "logintoken",
    "sessionkey",
    "sessiondata",
    "sessid",
    "totp",
    "otpcode",
    "recoverycode",
    "backupcode",
    "recoveryphrase",
    "seedphrase",
    "mnemonic",
    "credential",
    "cardnumber",
    "creditcard",
    "securitycode",
    "securityanswer",
    "pinhash",
    "pincode",
    "contrasen",
    "contraseñ",
    "senha",
    "motdepasse",
    "passwort",
    "kennwort",
    "geheim",
    "wachtwoord",
    "salasana",
    "losenord",
    "lösenord",
    "adgangskode",
    "kodeord",
    "heslo",
    "hasło",
    "parola",
    "şifre",
    "пароль",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "jelszo",
    "jelszó",
];
/// Whole words of such names.
const WORDS: &[&str] = &[
    "pass",
    "passwd",
    "pwd",
    "pw",
    "psw",
    "pin",
    "otp",
    "mfa",
    "cvv",
    "cvc",
    "cvv2",
    "ssn",
    "iban",
    "salt",
    "token",
    "cookie",
    "cookies",
    "mdp",
    "haslo",
    "sifre",
    "clave",
    "jwt",
    "sessionid",
    "privkey",
    "pat",
    "crypt",
    "bcrypt",
    "pem",
    "sk",
    "x509",
];
/// Numbers of persons, cards and accounts, which are worth what a password is, wherever they stand in a name.
const NUMBERS: &[&str] = &[
    "aadhaar",
    "aadhar",
    "accountnumber",
    "bankaccount",
    "cardno",
    "cardnum",
    "cartaocredito",
    "carteidentite",
    "ccnum",
    "ccno",
    "codicefiscale",
    "driverlicen",
    "drivinglicen",
    "expirydate",
    "healthcard",
    "iban",
    "insurancenumber",
    "kartennummer",
    "kartennr",
    "kontonummer",
    "kreditkarte",
    "medicare",
    "nationalid",
    "nationalinsurance",
    "nhsnumber",
    "numerocarte",
    "numerotarjeta",
    "numsecu",
    "passportno",
    "passportnumber",
    "personalausweis",
    "personalid",
    "personnummer",
    "pruefziffer",
    "prüfziffer",
    "reisepass",
    "routingnumber",
    "rodnecislo",
    "securitenumber",
    "socialinsurance",
    "socialsecurity",
    "sortcode",
    "sozialversicherung",
    "steueridentifik",
    "steuernummer",
    "svnr",
    "tarjetacredito",
    "taxid",
    "taxnumber",
    "taxpayer",
    "voterid",
];
/// The same as whole words.
const NUMBER_WORDS: &[&str] = &[
    "bsn", "bvn", "cc", "cf", "cnic", "cnp", "cpf", "curp", "cvn", "dni", "egn", "hkid", "jmbg", "nhs", "nif", "nie",
    "nin", "nino", "nir", "nric", "oib", "pan", "passport", "pesel", "pps", "ppsn", "rfc", "rrn", "rut", "sin",
    "snils", "ssnr", "swift", "tfn", "tckn", "tin", "cvv1", "csc",
];
/// What connects to something, opens a session or an account.
const OPENING: &[&str] = &[
    "connectionstring",
    "connectionuri",
    "connectionurl",
    "connstr",
    "conninfo",
    "databaseurl",
    "dburl",
    "dsn",
    "jdbcurl",
    "licensekey",
    "magiclink",
    "magicurl",
    "mongouri",
    "otpauth",
    "otpsecret",
    "otpseed",
    "otpuri",
    "pwd",
    "redisurl",
    "sasurl",
    "securejson",
    "serialkey",
    "sessdata",
    "sharedkey",
    "signedurl",
    "smtppass",
    "sshkey",
    "webhookurl",
];
/// Words that say that a name is about one of them: when it was changed, how long it is, whether there is one.
const ABOUT: &[&str] = &[
    "age", "allowed", "at", "attempt", "attempts", "changed", "consent", "cost", "count", "counts", "created", "date",
    "days", "enabled", "expired", "expires", "expiry", "failed", "failures", "format", "hint", "id", "last4", "length",
    "lifetime", "limit", "must", "needs", "number", "on", "per", "policy", "price", "rate", "required", "reset",
    "revoked", "set", "status", "strength", "time", "total", "type", "types", "updated", "usage", "used", "valid",
    "verified", "version",
];
/// Words in front that say the same.
const ASKING: &[&str] =
    &["is", "has", "num", "max", "min", "avg", "n", "needs", "must", "sum", "require", "requires", "boarding"];
/// What a hash is of, where it is one of a password.
const HASHED: &[&str] = &["user", "login", "auth", "admin", "account", "secure"];

/// Whether a column is called like one for passwords or keys.
pub(super) fn is_secret_column(name: &str) -> bool {
    let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let flat: String = words.concat();
    let about = words.iter().skip(1).any(|word| ABOUT.contains(word))
        || words.first().is_some_and(|word| ASKING.contains(word) && words.len() > 1);
    // `passwordResetAt`, as databases write it.
    let glued = [
        "changedat",
        "expiresat",
        "updatedat",
        "resetat",
        "createdat",
        "count",
        "enabled",
        "attempts",
        "length",
        "policy",
    ]
    .iter()
    .any(|end| flat.ends_with(end));
    let hash = words.contains(&"hash") && (words.len() == 1 || words.iter().any(|word| HASHED.contains(word)));
    // A number of a card; `card_number` is one and no count.
    let of_person = NUMBERS.iter().any(|part| flat.contains(part))
        || words.iter().any(|word| NUMBER_WORDS.contains(word)) && words.len() < 4;
    let numbered = flat.contains("cardnumber") || flat.contains("creditcard") || of_person;
    let opens = OPENING.iter().any(|part| flat.contains(part)) || matches!(words.as_slice(), ["sess"]);
    // Nobody here reads what a name in other letters says.
    let is_foreign = name.chars().any(|c| c.is_alphabetic() && c > '\u{24f}');
    let named = of_person
        || opens
        || is_foreign
        || in_any_language(name)
        || PARTS.iter().any(|part| flat.contains(part))
        || words.iter().any(|word| WORDS.contains(word))
        || hash;
    named && (numbered || !about && !glued)
}

/// Whether a name has a word for passwords or keys in it, in any of many languages. What counts or lists some of them has it too.
pub(super) fn in_any_language(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    let counts =
        words.any(|word| matches!(word, "cookie" | "cookies" | "token" | "tokens" | "wallet" | "wallets" | "vault"));
    let flat: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    !counts && (crate::shell::names_secret(name) || crate::shell::names_secret(&flat))
}

/// Whether a table is called like one that holds keys beside what people list.
pub(super) fn is_secret_table(name: &str) -> bool {
    const HOLDING: [&str; 65] = [
        "authtoken",
        "cache",
        "config",
        "configs",
        "configuration",
        "configurations",
        "conf",
        "connection",
        "connections",
        "connectors",
        "datasource",
        "datasources",
        "entity",
        "env",
        "environment",
        "integration",
        "integrations",
        "invites",
        "kv",
        "keyvalue",
        "magic",
        "option",
        "options",
        "parameters",
        "preferences",
        "prefs",
        "registry",
        "sess",
        "setting",
        "settings",
        "token",
        "usermeta",
        "variable",
        "variables",
        "vars",
        "webhook",
        "webhooks",
        "wallet",
        "session",
        "tokens",
        "secrets",
        "secret",
        "credentials",
        "credential",
        "passwords",
        "password",
        "apikeys",
        "otps",
        "otp",
        "mfa",
        "totp",
        "cookies",
        "logins",
        "keystore",
        "keyring",
        "wallets",
        "vault",
        "passkeys",
        "jwts",
        "oauth",
        "authenticators",
        "invitations",
        "pats",
        "webauthn",
        "sso",
    ];
    // `data_source` of dashboards, `core_config_data`.
    if name.contains("data_source") {
        return true;
    }
    // Views of the system are judged by their names.
    if name.starts_with("pg_") || name.starts_with("sys") {
        return false;
    }
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    let keys = words.clone().any(|word| word == "keys")
        && words.clone().any(|word| {
            matches!(
                word,
                "api" | "ssh" | "private" | "access" | "signing" | "encryption" | "user" | "host" | "license"
            )
        });
    keys || words.any(|word| HOLDING.contains(&word))
        || ["usertoken", "accesstoken", "refreshtoken", "usersecret", "usercredential", "apikey", "passwordreset"]
            .iter()
            .any(|part| name.contains(part))
}

/// Whether a table is called like one of people who sign in: its other columns may be listed, a whole row has a password in it.
pub(super) fn is_table_of_people(name: &str) -> bool {
    let last = name.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    matches!(
        last,
        "user"
            | "users"
            | "account"
            | "accounts"
            | "admin"
            | "admins"
            | "member"
            | "members"
            | "customer"
            | "customers"
            | "employee"
            | "employees"
            | "staff"
            | "login"
            | "logins"
            | "operators"
            | "subscribers"
            | "people"
            | "persons"
            | "profiles"
            | "identities"
            | "usuarios"
            | "utilisateurs"
            | "benutzer"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_tell_what_they_hold() {
        for name in [
            "password",
            "passwordhash",
            "pwd",
            "user_pass",
            "secretkey",
            "api_key",
            "token",
            "reset_token",
            "pin",
            "cvv",
            "ssn",
            "iban",
            "mot_de_passe",
            "contrasena",
            "senha_hash",
            "passwort",
            "recovery_codes",
            "session_key",
            "cookie",
            "hash",
            "user_hash",
            "card_number",
            "credential_data",
            "otp",
            "salt",
            "lozinka",
            "mat_khau",
            "كلمة_المرور",
            "userpwd",
            "kartennummer",
            "cc_num",
            "pan",
            "aadhaar",
            "dsn",
            "connection_string",
            "otpauth_url",
        ] {
            assert!(is_secret_column(name), "{name}");
        }
        for name in [
            "password_changed_at",
            "passwordchangedat",
            "token_count",
            "max_tokens",
            "tokens",
            "commit_hash",
            "file_hash",
            "is_password_set",
            "session_id",
            "key",
            "classname",
            "shipping",
            "spinner",
            "passenger",
            "compass_heading",
            "boarding_pass",
            "pinned",
            "token_id",
            "otp_enabled",
            "cookie_consent",
            "salted_id",
            "company",
            "japan",
            "account_id",
            "straße",
            "expand",
        ] {
            assert!(!is_secret_column(name), "{name}");
        }
    }
}
