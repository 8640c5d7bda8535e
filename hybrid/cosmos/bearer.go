package cosmos

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// bearer authorizes requests by tokens of a credential.
//
// The SDK's own policy keeps a token until it expires by this machine's clock,
// whatever the service says of it, and its requests wait for a new token longer
// than their contexts allow. So the SDK gets a placeholder, and this policy, which
// runs behind the SDK's, puts a real token in its place. When the service refuses
// a token, the policy asks the credential for a new one and makes the request
// again, once.
type bearer struct {
	cred   azcore.TokenCredential
	scopes []string
	turn   chan struct{} // holds a value while a request uses what follows

	token azcore.AccessToken
	tried time.Time // when the credential was asked last
}

const (
	tokenReserve = 5 * time.Minute  // a token is replaced so long before its end
	tokenPause   = 30 * time.Second // between attempts to replace a token that is still good
)

// newBearer returns the policy for the account at an endpoint.
func newBearer(endpoint string, cred azcore.TokenCredential, o *azcosmos.ClientOptions) (*bearer, error) {
	at, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	audience := at.Scheme + "://" + at.Hostname()
	if o != nil && o.Cloud.Services[azcosmos.ServiceName].Audience != "" {
		audience = o.Cloud.Services[azcosmos.ServiceName].Audience
	}
	return &bearer{cred: cred, scopes: []string{audience + "/.default"}, turn: make(chan struct{}, 1)}, nil
}

// Do authorizes req, and makes it again with another token when the service
// refuses the first.
func (b *bearer) Do(req *policy.Request) (*http.Response, error) {
	ctx := req.Raw().Context()
	token, err := b.get(ctx, "", "")
	if err != nil {
		return nil, &unrepeated{outcome: fmt.Errorf("get token: %w", err)} // the SDK would ask again
	}
	answer, err := b.send(req, token)
	if err != nil || !refusesToken(answer) {
		return answer, err
	}
	next, err := b.get(ctx, token, claimsOf(answer))
	if err != nil || next == token {
		return answer, nil // the refusal says more than why there is no other token
	}
	if err := req.RewindBody(); err != nil {
		return answer, nil
	}
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection serves on
	_ = answer.Body.Close()
	return b.send(req, next)
}

func (b *bearer) send(req *policy.Request, token string) (*http.Response, error) {
	req.Raw().Header.Set("Authorization", "type=aad&ver=1.0&sig="+token)
	return req.Next()
}

// get returns a token, but none that was refused. Claims are what the service
// demands of a new one; "" is nothing.
func (b *bearer) get(ctx context.Context, refused, claims string) (string, error) {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	now := time.Now()
	good := b.token.Token != "" && b.token.Token != refused && now.Before(b.token.ExpiresOn)
	if good && (!b.aging(now) || now.Sub(b.tried) < tokenPause) {
		return b.token.Token, nil
	}
	b.tried = now
	next, err := b.cred.GetToken(ctx, policy.TokenRequestOptions{Scopes: b.scopes, Claims: claims})
	switch {
	case err == nil:
		b.token = next
	case !good:
		return "", err
	}
	return b.token.Token, nil
}

// aging reports whether it is time to replace the token.
func (b *bearer) aging(now time.Time) bool {
	if !b.token.RefreshOn.IsZero() {
		return now.After(b.token.RefreshOn)
	}
	return b.token.ExpiresOn.Sub(now) < tokenReserve
}

// refusesToken reports whether an answer may be another one with another token.
// An expired token is refused with 401, or with 403 and 5300, as users report.
func refusesToken(answer *http.Response) bool {
	return answer.StatusCode == http.StatusUnauthorized ||
		answer.StatusCode == http.StatusForbidden && answer.Header.Get(headerSub) == noToken
}

// challenge finds the claims in the header of an answer that demands them.
var challenge = regexp.MustCompile(`claims="([A-Za-z0-9+/=_-]+)"`)

// claimsOf returns the claims that an answer demands of a token.
func claimsOf(answer *http.Response) string {
	for _, header := range answer.Header.Values("WWW-Authenticate") {
		if found := challenge.FindStringSubmatch(header); found != nil {
			if claims, err := base64.StdEncoding.DecodeString(found[1]); err == nil {
				return string(claims)
			}
		}
	}
	return ""
}

// placeholder is the credential that the SDK gets.
type placeholder struct{}

// GetToken implements [azcore.TokenCredential].
func (placeholder) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "placeholder", ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}
