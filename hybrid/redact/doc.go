// Package redact takes secrets out of lines, before they leave a machine or are
// shown to others. It makes no requests, knows no store and imports nothing of
// a remote.
//
// # What it finds
//
// There are two marks of a secret. The first is its shape: tokens that services mark
// (GitHub, Slack, OpenAI and some fifty more), private keys in PEM, also as string
// literals, JSON Web Tokens, signed addresses, passwords and tokens in addresses,
// connection strings, bearer and basic headers, cookies.
//
// The second is the name that a value is given to: a name that says secret,
// token, key, password, pwd, credential or auth, or ends with the word PAT or DSN. The
// forms are
//
//	X=…   export X=…   set -x X …   X := …   ${X:-…}
//	"x": "…"   x: …   {"name": "X", "value": "…"}   <x>…</x>   f("x", "…")
//	x-api-key: …   Authorization: token …   ?token=…
//	machine h login u password …   host=h user=u password=…
//	--password …   --password=…   mysql -p…   curl -u user:…
//
// A row of a transcript is JSON, and holds JSON in strings, which holds source
// text in strings. So a line is searched as it is, and without one, two and
// three layers of escapes.
//
// [Rules.WithEnviron] also finds the values of secrets in the process's environment. It
// is for lines that only this process shows or exports. [New] adds patterns of the user.
//
// # Placeholders
//
// A secret becomes [redacted:KIND]. The name stays. The kind is the kind of the shape, or
// else of the name: password, secret, key, token, auth. A line that is JSON stays JSON,
// and a string in it stays a string. The same line always gives the same bytes, and a
// line that went through the rules does not change when it goes through them again.
//
// # Exceptions
//
// Not replaced are placeholders (<your-key>, ${X}, xxxx, changeme), example values
// (AKIA…EXAMPLE), references (os.environ["X"], paths, addresses without a password),
// counts and identifiers (max_tokens, key_id, public_key), hashes, UUIDs, prose, and the
// values of "signature", "thought_signature" and "encrypted_content", which a provider
// must get back byte for byte.
//
// # Limits
//
// A password that looks like a word or like words, or that is mentioned in prose ("the
// password is …"), is not found. Fewer than 1 in 100 random passwords of 8 letters and
// digits look so. A value of fewer than 6 bytes is not replaced, nor one of fewer than
// 12 bytes if its name says only key, token or auth. A JSON number is never replaced. An
// unquoted value ends at a space or a quote. A secret that is spread over several lines
// of a file is seen line by line; in a transcript a message is one line. Secrets of
// shapes that the rules do not know are not found: look before you publish.
package redact

// Redactor changes lines before they leave. Its version is stored beside the sent lines.
// The same version and line must give the same result, a result redacted again must not
// change, and no result may hold an LF. A device that lost its state can still recognise
// a line that earlier rules changed, as long as today's rules find no less. Where they
// find less, it can do so only if placeholders begin with "[redacted:" and end with "]";
// so they must.
type Redactor interface {
	Version() string
	Line(line []byte) []byte
}
