package cosmostest

// A TokenState is what the account thinks of a bearer token.
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
