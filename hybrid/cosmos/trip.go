package cosmos

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// trip is a request of a [Remote], from its beginning to the end of the answer. A nil
// trip, as of a request that no Remote makes, ignores all reports.
type trip struct {
	count  func(remote.Request) // takes each request that the SDK makes beside the last one
	ctx    context.Context      // of the request
	end    context.CancelCauseFunc
	began  time.Time
	wired  bool            // the client has a wire
	last   *remote.Request // that the wire made; nil: none
	beside func(*trip)     // called with the trip of a request for the account's regions; nil: the client prefers none
	stays  bool            // the request does not go to another region
}

type tripKey struct{}

func tripOf(ctx context.Context) *trip {
	t, _ := ctx.Value(tripKey{}).(*trip)
	return t
}

// setOut begins a trip, and returns the context for its request. The SDK keeps the values
// of a context where it drops its end.
func setOut(ctx context.Context, count func(remote.Request)) (*trip, context.Context) {
	t := &trip{count: count, began: time.Now()}
	t.ctx, t.end = context.WithCancelCause(ctx)
	return t, policy.WithRetryOptions(context.WithValue(t.ctx, tripKey{}, t), policy.RetryOptions{MaxRetries: -1})
}

// over ends the trip.
func (t *trip) over() { t.end(errOver) }

var errOver = errors.New("the request is over")

// moved reports that the wire begins the request, or that a part of it moved.
func (t *trip) moved() {
	if t != nil {
		remote.Moved(t.ctx)
	}
}

// heard reports that the account answers, and each part of an answer.
func (t *trip) heard() {
	if t != nil {
		remote.Heard(t.ctx)
	}
}

// goesOn reports whether the SDK may make the request, which a region did not take, in
// another one. For that it asks the account for its regions, beside the trip.
func (t *trip) goesOn() bool {
	if t == nil || t.beside == nil || t.stays || t.ctx.Err() != nil {
		return false
	}
	t.stays = true
	t.beside(&trip{count: t.count, ctx: context.WithoutCancel(t.ctx)})
	return true
}

// made records that the wire made a request, and counts the requests that the Remote does
// not count: requests for the account's properties, and a request that the SDK made again
// in another region, or with another token.
func (t *trip) made(r *http.Request, start time.Time, answer *http.Response) {
	if t == nil {
		return
	}
	one := remote.Request{Start: start, Err: remote.ErrUnreachable}
	if answer != nil {
		one = remote.Request{Start: start, Status: answer.StatusCode, Units: unitsOf(answer)}
	}
	if isAccount(r) {
		t.count(one)
		return
	}
	if t.last != nil {
		t.count(*t.last)
	}
	t.last = &one
}

// isAccount reports whether a request asks for the account's properties.
func isAccount(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == "" || r.URL.Path == "/")
}

// bearer authorizes requests by tokens of a credential.
//
// The SDK's own policy keeps a token until it expires by this machine's clock, even when
// the service refuses it, and its requests wait for a new token longer than their
// contexts allow. So the SDK gets a placeholder, and this policy, which runs behind the
// SDK's, puts a real token in its place. When the service refuses a token, the policy
// asks the credential for a new one and makes the request again, once.
type bearer struct {
	cred   azcore.TokenCredential
	scopes []string
	turn   chan struct{} // holds a value while a request uses the fields below

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
		return answer, nil // the refusal says more than the lack of another token
	}
	if err := req.RewindBody(); err != nil {
		return answer, nil
	}
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection can be used again
	_ = answer.Body.Close()
	return b.send(req, next)
}

func (b *bearer) send(req *policy.Request, token string) (*http.Response, error) {
	req.Raw().Header.Set("Authorization", "type=aad&ver=1.0&sig="+token)
	return req.Next()
}

// get returns a token other than the refused one. Claims are the service's demands on a
// new one; "" for none.
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

// refusesToken reports whether another token may change the answer. An expired token is
// refused with 401, or with 403 and 5300, as users report.
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

// A network that wants a sign-in, or a proxy, may answer in the place of every server,
// often with a page and the status 200. Such an answer says nothing about the account,
// whatever its status: it is unknown whether the request was done.

// elsewhereError is an answer that is not from the service, without its content.
type elsewhereError struct {
	status int
	page   bool
}

func (e *elsewhereError) Error() string {
	what := "something else"
	if e.page {
		what = "a web page"
	}
	return fmt.Sprintf("what answered is not the account but %s with status %d: sign in to the network, or have its proxy pass requests to the account", what, e.status)
}

// NonRetriable makes the SDK make the request once.
func (*elsewhereError) NonRetriable() {}

// checkService returns an error for an answer that is not from the service, nil for an
// answer that may be.
func checkService(answer *http.Response) error {
	if ofService(answer) {
		return nil
	}
	return &elsewhereError{answer.StatusCode, strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html")}
}

// ofService reports whether an answer may be from the service. The service marks its
// answers with headers of its own. Some answers of emulators have none, but no page.
func ofService(answer *http.Response) bool {
	for name := range answer.Header {
		if strings.HasPrefix(strings.ToLower(name), "x-ms-") {
			return true
		}
	}
	kind := answer.Header.Get("Content-Type")
	return strings.HasPrefix(kind, "application/json") || kind == "" && answer.StatusCode == http.StatusNoContent
}
