package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// left returns how many of n random secrets a form leaves in a message, and one of them.
func left(t *testing.T, n int, before, after string, made func() string) (count int, one string) {
	t.Helper()
	rules := Secrets()
	for range n {
		secret := made()
		line, err := json.Marshal(map[string]string{"role": "user", "content": before + secret + after})
		require.NoError(t, err)
		if strings.Contains(string(rules.Line(line)), secret) {
			count, one = count+1, secret
		}
	}
	return count, one
}

// TestRandomPasswordsAreFound has passwords of letters and digits behind names that say
// so: of 8 characters at most 1 in 100 stays, of more fewer.
func TestRandomPasswordsAreFound(t *testing.T) {
	t.Parallel()
	r := fake{testenv.Rand(t)}
	const n = 2000
	for _, form := range [][2]string{
		{"DB_PASSWORD=", ""},
		{`{"password": "`, `"}`},
		{"password: ", "\nx: y"},
		{"host=db user=adm password=", " dbname=x"},
		{"--passwd ", " x"},
		{"<password>", "</password>"},
		{"https://h.test/p?pwd=", "&b=2"},
		{"const dbPassphrase = '", "'"},
		{"ENV ROOT_PASS ", "\n"},
		{"mysql -u root -p", " shop"},
		{"https://h.test/p?user=x&password=", "#top"},
		{"- **Password:** ", "\n"},
		{"**Password**: ", "\n"},
	} {
		for length, most := range map[int]int{8: n / 100, 12: n / 200, 16: n / 400} {
			count, one := left(t, n, form[0], form[1], func() string { return r.of(small+capital+decimal, length) })
			require.LessOrEqual(t, count, most, "%s…%s of %d, as %s", form[0], form[1], length, one)
		}
	}
}

// TestTokensWithoutANameAreFound has tokens in addresses, in variables that are called
// PAT or DSN, and of services that mark them.
func TestTokensWithoutANameAreFound(t *testing.T) {
	t.Parallel()
	r := fake{testenv.Rand(t)}
	alnum := func(n int) func() string { return func() string { return r.of(small+capital+decimal, n) } }
	hex := func(n int) func() string { return func() string { return r.hex(n) } }
	const n = 2000
	for _, form := range []struct {
		before, after string
		made          func() string
	}{
		{"git clone https://", "@github.test/x/y", alnum(40)},
		{"https://", "@h.test/db", hex(32)},
		{"git+ssh://", "@h.test", alnum(20)},
		{"https://", "@h.test", func() string { return r.of(small+capital+decimal+"-_.~", 26) }},
		{"https://", ":@h.test/v1", alnum(32)},
		{"https://", ":x-oauth-basic@h.test/x.git", alnum(40)},
		{"SENTRY_DSN=https://", "@o1.ingest.test/2", hex(32)},
		{"AZURE_DEVOPS_EXT_PAT=", "", func() string { return r.of(small+"234567", 52) }},
		{"export GITLAB_PAT=", "\n", alnum(20)},
		{`{"githubPat": "`, `"}`, alnum(40)},
		{"my-pat: ", "", alnum(20)},
		{"x.pat = '", "'", alnum(24)},
		{"APP_DSN=", "", alnum(32)},
		{"MYSQL_DSN=app:", "@tcp(db.test:3306)/shop", alnum(10)},
		{`dsn := "app:`, `@tcp(db.test)/shop"`, alnum(10)},
		{"https://", "@h.test/db", func() string { return r.upper(24) }},
		{"it is ", " now", func() string {
			return r.of(small+capital+decimal, 14) + ".atlasv1." + r.of(small+capital+decimal+"-_", 67)
		}},
		{`{"credentials": {"app.tf.test": {"token": "`, `"}}}`, func() string { return r.of(small+capital+decimal, 14) + ".atlasv1." + r.of(small+capital+decimal, 67) }},
		{"it is ", " now", func() string {
			return "pcsk" + "_" + r.of(small+capital+decimal, 6) + "_" + r.of(small+capital+decimal, 63)
		}},
	} {
		count, one := left(t, n, form.before, form.after, form.made)
		require.LessOrEqual(t, count, n/1000, "%s…%s, as %s", form.before, form.after, one)
	}
	rules := Secrets()
	for _, text := range []string{
		"GLIBC_COMPAT=a1B2c3D4e5F6g7H8i9J0", "compat: a1B2c3D4e5F6g7H8i9J0", "PATH=/home/ada/x1y2z3/bin", "PAT_COUNT=12", "dsn: host-of-the-database",
		`dsn = "root@tcp(127.0.0.1:3306)/test1"`, "PG_DSN=host=/run/pg1 dbname=x1y2z3",
		`pat = re.compile("[a-z0-9]{8}-[a-f0-9]{4}")`, `const wordPat = "[A-Za-z0-9]+(?:x1|y2)"`, "https://someverylongusername@git.test/x", "ssh://git-codecommit-user@git.test",
		"https://ada%40example.com@h.test", "https://first.last-of.the.family@h.test/calendar",
	} {
		require.Equal(t, text, string(rules.Line([]byte(text))))
	}
}

// TestPasswordsAreFoundToTheirEnd has passwords with signs at the end and in the middle.
func TestPasswordsAreFoundToTheirEnd(t *testing.T) {
	t.Parallel()
	rules := Secrets()
	secrets := []string{
		"hunter2!", "Tr0ub4dor&3", "hunter2.", "hunter2:", "x1y2z3!!", "Tr0ub4dor+3!", "q3mz8&AD5K:", "p4ss&w0rd9", "a&b1c2d3", "q7!x&&z9", "Xy7@kQ2z", "Xy7kQ2#%^", "hunter2=",
	}
	signs := append(secrets, "hunter2?", "hunt3r*2)", "ab(c1d2e3", "h{unter27", "m1x,3d", "ab;c1d2e3", "Tr0ub|4d9r") // that separate values in source text
	for _, form := range []struct {
		before, after string
		secrets       []string
	}{
		{"password: ", "", secrets},
		{"password: ", "\nnext: 1", secrets},
		{"password=", " and so on", secrets},
		{"DB_PASSWORD=", "\nA=b", signs},
		{"export PGPASSWORD=", "", signs},
		{"--password ", " -x", signs},
		{"--password=", " -x", signs},
		{"  pwd = ", "\n", secrets},
		{"host=h password=", " dbname=d", secrets},
		{"machine h login u password ", "\n", signs},
		{"SMTP_PASS := ", "", secrets},
		{`{"password": "`, `"}`, signs},
		{"<password>", "</password>", secrets},
		{"postgres://ada:", "@h.test/db", secrets},
		{"mysql -u root -p'", "' shop", secrets},
		{"curl -u 'ada:", "' https://h.test", secrets},
		{"Server=h;Password=", ";Encrypt=true", secrets},
		{"(password=", ", host=h)", secrets},
		{"password=", "&user=ada", secrets},
		{"{user: ada, password: ", ", port: 5}", secrets},
	} {
		for _, secret := range form.secrets {
			whole := form.before + secret + form.after
			line, err := json.Marshal(map[string]string{"content": whole})
			require.NoError(t, err)
			got := rules.Line(line)
			var m struct{ Content string }
			require.NoError(t, json.Unmarshal(got, &m), string(got))
			require.NotContains(t, m.Content, secret[:3], whole)
			require.NotContains(t, m.Content, secret[len(secret)-2:]+form.after, whole)
			require.NotRegexp(t, `\[redacted:[a-z-]+\][^ \n"'<@;&,]`, m.Content, whole)
			require.Equal(t, string(got), string(rules.Line(got)))
		}
	}
	for text, want := range map[string]string{
		"connect(user=u, password=hunter27)":     "connect(user=u, password=[redacted:password])",
		"{password: hunter27}":                   "{password: [redacted:password]}",
		"password=hunter27, host=db":             "password=[redacted:password], host=db",
		"**Password:** hunter27 is new":          "**Password:** [redacted:password] is new",
		"password=hunter27,ssl=True":             "password=[redacted:password],ssl=True",
		"Pwd=hunter27;User Id=u":                 "Pwd=[redacted:password];User Id=u",
		"?password=Tr0ub4dor1&b=2":               "?password=[redacted:password]&b=2",
		"<b>password: hunter27</b>":              "<b>password: [redacted:password]</b>",
		"<Foo password=hunter27>":                "<Foo password=[redacted:password]>",
		"password=[redacted:password]!":          "password=[redacted:password]", // as earlier rules left it
		"<password>Tr0ub4dor&amp;3</password>":   "<password>[redacted:password]</password>",
		"postgres://u:Xy7@kQ2z@h/db?mail=a@b.co": "postgres://u:[redacted:url-password]@h/db?mail=a@b.co",
	} {
		require.Equal(t, want, string(rules.Line([]byte(text))))
	}
}
