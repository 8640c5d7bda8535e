package cosmostest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxSkew is how far x-ms-date may be from the server's clock.
const maxSkew = 15 * time.Minute

// authorize checks the version, the date and the signature or token of a call.
func (s *Server) authorize(c *call) *failure {
	token := c.header.Get("Authorization")
	switch {
	case token == "":
		return fail(http.StatusUnauthorized, "Required Header authorization is missing")
	case c.header.Get("x-ms-version") == "":
		return fail(http.StatusBadRequest, "Required Header x-ms-version is missing")
	}
	text, err := url.QueryUnescape(token)
	if err != nil {
		return fail(http.StatusUnauthorized, "The authorization token has the wrong format")
	}
	kind, sig, ok := tokenParts(text)
	if !ok {
		return fail(http.StatusUnauthorized, "The authorization token has the wrong format")
	}
	if kind == "aad" {
		return s.authorizeToken(c, token)
	}
	return s.authorizeKey(c, kind, sig)
}

// tokenParts reads type, version and signature; the signature may hold "=".
func tokenParts(text string) (kind, sig string, ok bool) {
	kind, rest, ok := strings.Cut(strings.TrimPrefix(text, "type="), "&ver=1.0&sig=")
	return kind, rest, ok && strings.HasPrefix(text, "type=") && rest != ""
}

// authorizeKey recomputes the signature: the lower-case verb, the kind of
// resource, its link and the lower-case date under the account's key.
func (s *Server) authorizeKey(c *call, kind, sig string) *failure {
	date := c.header.Get("x-ms-date")
	at, err := http.ParseTime(date)
	if err != nil {
		return fail(http.StatusUnauthorized, "The request has no valid x-ms-date")
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(strings.ToLower(c.Method) + "\n" + string(c.kind) + "\n" + c.link + "\n" + strings.ToLower(date) + "\n\n"))
	given, err := base64.StdEncoding.DecodeString(sig)
	if err != nil || kind != "master" || !hmac.Equal(given, mac.Sum(nil)) {
		return fail(http.StatusUnauthorized, "The input authorization token can't serve the request. "+
			"The wrong key is being used or the expected payload is not built as per the protocol")
	}
	if d := c.At.Sub(at); d > maxSkew || d < -maxSkew {
		return fail(http.StatusForbidden, "The authorization token is not valid at the current time")
	}
	return nil
}

// authorizeToken asks the owner of the server. Tokens never serve to create,
// change or delete databases and containers.
func (s *Server) authorizeToken(c *call, header string) *failure {
	state := TokenRefused
	if s.options.AAD != nil {
		state = s.options.AAD(strings.TrimPrefix(header, "type=aad&ver=1.0&sig="))
	}
	switch state {
	case TokenAccepted:
	case TokenExpired:
		return failSub(http.StatusUnauthorized, subTokenExpired, "Request blocked by Auth: the provided AAD token has expired")
	case TokenRevoked:
		f := failSub(http.StatusUnauthorized, subTokenRevoked, "Request blocked by Auth: the provided AAD token was revoked")
		f.challenge = `Bearer error="insufficient_claims", claims="` + base64.StdEncoding.EncodeToString([]byte(TokenClaims)) + `"`
		return f
	case TokenNoRole:
		return noRole(c)
	default:
		return fail(http.StatusUnauthorized, "The provided token is not accepted")
	}
	if c.Op == OpControl && c.Method != http.MethodGet {
		return failSub(http.StatusForbidden, subRBAC, "The given request cannot be authorized by AAD token in data plane")
	}
	return nil
}

// noRole refuses a call whose identity has no role that allows it.
func noRole(c *call) *failure {
	sub, action := subNoMetadataRole, "readMetadata"
	if c.Op.Data() {
		sub, action = subNoDataRole, "sqlDatabases/containers/items/"+string(c.Op)
	}
	return failSub(http.StatusForbidden, sub, "Request blocked by Auth: the principal does not have required RBAC permissions to perform action "+
		"[Microsoft.DocumentDB/databaseAccounts/%s]", action)
}
