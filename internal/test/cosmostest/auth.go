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

// A TokenState is the validity of a bearer token at the account.
type TokenState int

// The states of a token.
const (
	TokenRefused  TokenState = iota // it is none of the account's: 401
	TokenAccepted                   // its identity may work on documents
	TokenExpired                    // 401 with 5006
	TokenRevoked                    // 401 with 5013, and a challenge to get another one
	TokenNoRole                     // its identity has no role, or the role has not arrived yet: 403 with 5301 or 5302
)

// TokenClaims are the claims of the challenge that comes with a revoked token.
const TokenClaims = `{"access_token":{"nbf":{"essential":true,"value":"1"}}}`

// key signs requests to all servers.
var key [64]byte

// maxSkew is how far x-ms-date may be from the server's clock.
const maxSkew = 15 * time.Minute

// authorize checks the version, the date and the signature or token of a call.
func authorize(c *call, aad func(token string) TokenState) *answer {
	token := c.header.Get("Authorization")
	switch {
	case token == "":
		return fail(http.StatusUnauthorized, "Required Header authorization is missing")
	case c.header.Get("x-ms-version") == "":
		return fail(http.StatusBadRequest, "Required Header x-ms-version is missing")
	}
	text, err := url.QueryUnescape(token)
	kind, sig, ok := strings.Cut(strings.TrimPrefix(text, "type="), "&ver=1.0&sig=")
	switch {
	case err != nil || !ok || sig == "" || !strings.HasPrefix(text, "type="):
		return fail(http.StatusUnauthorized, "The authorization token has the wrong format")
	case kind == "aad":
		return authorizeToken(c, token, aad)
	}
	return authorizeKey(c, kind, sig)
}

// authorizeKey recomputes the signature: the lower-case verb, the kind of
// resource, its link and the lower-case date under the account's key.
func authorizeKey(c *call, kind, sig string) *answer {
	date := c.header.Get("x-ms-date")
	at, err := http.ParseTime(date)
	if err != nil {
		return fail(http.StatusUnauthorized, "The request has no valid x-ms-date")
	}
	mac := hmac.New(sha256.New, key[:])
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
func authorizeToken(c *call, header string, aad func(token string) TokenState) *answer {
	state := TokenRefused
	if aad != nil {
		state = aad(strings.TrimPrefix(header, "type=aad&ver=1.0&sig="))
	}
	const blocked, noRole = "Request blocked by Auth: ", "the principal does not have required RBAC permissions to perform action [Microsoft.DocumentDB/databaseAccounts/"
	switch {
	case state == TokenExpired:
		return failSub(http.StatusUnauthorized, subTokenExpired, blocked+"the provided AAD token has expired")
	case state == TokenRevoked:
		return failSub(http.StatusUnauthorized, subTokenRevoked, blocked+"the provided AAD token was revoked").
			set("WWW-Authenticate", `Bearer error="insufficient_claims", claims="`+base64.StdEncoding.EncodeToString([]byte(TokenClaims))+`"`)
	case state == TokenNoRole && c.Op.Data():
		return failSub(http.StatusForbidden, subNoDataRole, blocked+noRole+"sqlDatabases/containers/items/%s]", c.Op)
	case state == TokenNoRole:
		return failSub(http.StatusForbidden, subNoMetadataRole, blocked+noRole+"readMetadata]")
	case state != TokenAccepted:
		return fail(http.StatusUnauthorized, "The provided token is not accepted")
	case c.Op == OpControl && c.Method != http.MethodGet:
		return failSub(http.StatusForbidden, subRBAC, "The given request cannot be authorized by AAD token in data plane")
	}
	return nil
}
