//! What daily work holds that looks like a path or a host and is none, beside what only looks so.

use serde_json::{Value, json};

use crate::common::{assert_honest, assert_hostile, checks, checks_from};

fn commands(lines: &[&str]) -> Vec<Value> {
    lines.iter().map(|line| json!({ "command": line })).collect()
}

fn under(key: &str, texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!({ key: text })).collect()
}

#[test]
fn tests_branches_and_images_of_commands_are_no_paths_outside() {
    {
        let scope = json!({"paths": ["/srv/ok", "/srv/ok/**"], "deny_paths": ["**/.env"]});
        let checks = checks_from("/srv/ok", &[], &json!({}), &[scope]);
        assert_honest(
            &checks,
            &commands(&[
                "docker pull ghcr.io/org/x:1",
                "docker run --rm registry.example.com/team/app:1.2.3 ls",
                "docker pull org/app:1",
                "docker tag app:1 ghcr.io/org/app:1",
                "docker pull localhost:5000/app:dev",
                "podman pull quay.io/a/b:latest",
                "git push origin feature/x:main",
                "git push origin HEAD:refs/heads/fix/y",
                "git fetch origin main:tmp/main",
                "kubectl set image deployment/web web=ghcr.io/org/x:1",
                "git push origin +dev/a:dev/a",
                "skopeo inspect docker://ghcr.io/org/x:1",
                "crane digest ghcr.io/org/x:1",
                "aws iam get-role arn:aws:iam::123456789012:role/app",
                "helm pull oci://ghcr.io/org/chart",
            ]),
        );
    }
    let scope = json!({"paths": ["/srv/ok", "/srv/ok/**"], "deny_paths": ["**/.env", "**/vault/**"]});
    let checks = checks_from("/srv/ok", &[], &json!({}), &[scope]);
    assert_honest(
        &checks,
        &commands(&[
            "pytest tests/test_a.py::test_b",
            "pytest tests/test_a.py::TestA::test_b",
            "pytest 'tests/test_a.py::test_b[1-x]'",
            "pytest tests/a.py::test_x tests/b.py::test_y",
            "cargo test path::to::test",
        ]),
    );
    assert_hostile(
        &checks,
        &commands(&[
            "pytest ../x/test_a.py::test_b",
            "pytest /etc/test_a.py::test_b",
            "pytest vault/test_a.py::test_b",
            "pytest tests/test_a.py::../../x",
            "docker run -v /etc:/x app:1",
            "docker run -v ../x:/x org/app:1",
            "docker cp c:/x /etc/x",
            "docker pull ../x/y:1",
            "git push /etc/x main:main",
            "git push ../x feature/x:main",
            "git show HEAD:../x",
            "git show HEAD:.env",
            "docker build ../x",
            "docker load -i /tmp/x:1",
            "scp ../a:1 b",
            "cat vault/x:1",
        ]),
    );
}

#[test]
fn addresses_separators_and_expressions_in_a_program_are_no_paths() {
    let scope = json!({"paths": ["/srv/ok", "/srv/ok/**"], "deny_paths": ["**/.env"]});
    let checks = checks_from("/srv/ok", &[], &json!({}), &[scope]);
    let honest = [
        "requests.get('https://x.example/a')",
        "requests.post(\"https://x.example/a/b?c=d\", json={'a': 1})",
        "'/'.join(xs)",
        "x = '/'.join(['a', 'b'])",
        "parts = url.split('/')",
        "re.findall(r'\\d+/\\d+', text)",
        "re.sub(r'\\s+', ' ', text)",
        "print(a / b)",
        "open('data/a.csv').read()",
        "x = 3 // 2",
        "datetime.strptime(d, '%d/%m/%Y')",
        "fetch('https://x.example/api')",
        "s.replace('//', '/')",
        "print('and/or')",
        "df.to_csv('out/a.csv')",
        "re.match(r'\\w+/\\w+', s)",
    ];
    assert_honest(&checks, &under("code", &honest));
    let hostile = [
        "open('/etc/passwd').read()",
        "print(open(\"/etc/passwd\").read())",
        "open('../x/y').read()",
        "requests.get('file:///etc/passwd')",
        "open(r'\\\\host\\share\\x').read()",
        "Path('~/x').expanduser().read_text()",
        "x = open('/srv/private/a')",
        "open('/srv/ok/../x')",
        "shutil.copy('a', '/tmp/x')",
        "os.listdir('/')",
        "open('/etc' + '/passwd')",
        "urlopen('file:/etc/passwd')",
        "subprocess.run(['cat', '/etc/passwd'])",
        "open('a/../../x')",
        "glob('/etc/*')",
    ];
    assert_hostile(&checks, &under("code", &hostile));
}

#[test]
fn names_of_resources_and_ends_of_markup_are_no_paths() {
    let scope = json!({"paths": ["/srv/ok", "/srv/ok/**"], "deny_paths": ["**/.env"]});
    {
        let checks = checks_from("/srv/ok", &[], &json!({}), std::slice::from_ref(&scope));
        let honest = [
            "arn:aws:iam::123456789012:role/app",
            "arn:aws:s3:::bucket/key",
            "arn:aws:lambda:eu-west-1:123456789012:function:x",
            "arn:aws-cn:s3:::b/a/c",
            "acme/app:main",
            "org/repo:v1.2",
            "</div>",
            "</p>",
            "</ns:item>",
            "<br/>",
        ];
        assert_honest(&checks, &under("x", &honest));
        let hostile = [
            "arn:aws:s3:::../x",
            "arn:aws:s3:/etc/passwd",
            "arn:/etc/passwd",
            "../acme/app:main",
            "/acme/app:main",
            "acme/../../x:main",
            "</etc/passwd>",
            "</etc/passwd",
            "<//etc>",
            "</opt/x>",
            "arn:aws:s3:::b/../../x",
            "slack:///etc/passwd",
            "x:/etc/passwd",
            "<file:///etc/passwd>",
            "</div>/etc/passwd",
        ];
        assert_hostile(&checks, &under("x", &hostile));
    }
}

#[test]
fn names_of_classes_and_products_are_no_hosts() {
    let checks = checks(&[], &json!({}), &[json!({"hosts": ["ok.example"]})]);
    let honest = [
        json!({"class": "java.util.List"}),
        json!({"class_name": "com.acme.app.Main"}),
        json!({"package": "org.example.app"}),
        json!({"note": "node.js"}),
        json!({"title": "node.js"}),
        json!({"module": "os.path"}),
        json!({"function": "Array.prototype.map"}),
        json!({"type": "System.Collections.Generic.List"}),
        json!({"className": "javax.swing.JFrame"}),
        json!({"name": "vue.js"}),
        json!({"tags": ["next.js", "node.js"]}),
        json!({"symbol": "com.acme.Foo.bar"}),
        json!({"exception": "java.lang.NullPointerException"}),
        json!({"interface": "java.io.Closeable"}),
        json!({"framework": "ASP.NET"}),
    ];
    assert_honest(&checks, &honest);
    let hostile = [
        json!({"class": "evil.example.com"}),
        json!({"note": "https://evil.example/x"}),
        json!({"class": "http://evil.example"}),
        json!({"x": "evil.com"}),
        json!({"x": "node.js.evil.com"}),
        json!({"x": "java.util.evil.com"}),
        json!({"host": "node.js"}),
        json!({"url": "java.util.List"}),
        json!({"x": "evil.io"}),
        json!({"x": "10.9.8.7"}),
        json!({"class": "10.9.8.7"}),
        json!({"server": "java.util.List"}),
        json!({"x": "evil.com:443"}),
        json!({"note": "ws://evil.example"}),
        json!({"endpoint": "vue.js"}),
    ];
    assert_hostile(&checks, &hostile);
}

#[test]
fn ways_through_and_addresses_in_brackets_lead_to_hosts() {
    let checks = checks(&[], &json!({}), &[json!({"hosts": ["ok.example"]})]);
    let hostile = [
        json!({"forward": "8080:1.2.3.4:80"}),
        json!({"x": "8080:evil.example:80"}),
        json!({"x": "127.0.0.1:8080:evil.example:80"}),
        json!({"resolve": ["ok.example:80:1.2.3.4"]}),
        json!({"x": "fe80::1%eth0"}),
        json!({"dsn": "(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=evil.example)(PORT=1521)))"}),
        json!({"connection": "(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST = evil)(PORT=1521)))"}),
        json!({"command": "docker login evil.example"}),
        json!({"command": "docker login -u ann evil.example"}),
        json!({"command": "terraform login evil.example"}),
        json!({"command": "helm registry login evil.example"}),
        json!({"command": "ssh-keyscan evil"}),
        json!({"command": "getent hosts evil.example"}),
        json!({"command": "getent ahosts evil"}),
        json!({"command": "timeout 5 ssh-keyscan -p 22 evil"}),
    ];
    assert_hostile(&checks, &hostile);
    let honest = [
        json!({"x": "8080:80"}),
        json!({"ports": ["8080:80", "53:53"]}),
        json!({"x": "12:30:45"}),
        json!({"forward": "8080:ok.example:80"}),
        json!({"dsn": "(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=ok.example)(PORT=1521)))"}),
        json!({"command": "docker login ok.example"}),
        json!({"command": "docker login"}),
        json!({"command": "gh auth login"}),
        json!({"command": "getent passwd ann"}),
        json!({"command": "ssh-keyscan ok.example"}),
        json!({"x": "a:b:c"}),
        json!({"x": "(see below)"}),
        json!({"x": "1:2:3"}),
        json!({"x": "50% of all"}),
        json!({"command": "npm login"}),
    ];
    assert_honest(&checks, &honest);
}

#[test]
fn what_a_text_includes_lies_inside() {
    let scope = json!({"paths": ["/srv/ok", "/srv/ok/**"]});
    let checks = checks_from("/srv/ok", &[], &json!({}), &[scope]);
    let hostile = [
        "@import '../private/secret.txt';",
        "#include \"../private/x.typ\"",
        "#include \"/etc/passwd\"",
        "see <file:///etc/passwd>",
        "read '~/.ssh/id_rsa' first",
        "include(\"../../x\")",
        "LOAD <file:///etc/passwd>",
        "source = '$HOME/x'",
        "url('../../private/x.png')",
        "import x from \"../../private/x\"",
    ];
    assert_hostile(&checks, &under("x", &hostile));
    let honest = [
        "@import 'theme.css';",
        "#include \"lib/x.typ\"",
        "#include <stdio.h>",
        "see <https://x.example/a>",
        "import x from './x'",
        "url('img/x.png')",
        "it's '50%' or \"more\"",
        "say \"hello\" and 'and/or'",
        "from 'a/b' to 'c/d'",
        "use `make build`",
    ];
    assert_honest(&checks, &under("x", &honest));
}
