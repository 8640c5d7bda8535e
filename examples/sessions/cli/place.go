package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/hybrid/postgres"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/s3"
)

// place is the URL of a remote. It holds no secret.
type place string

// kinds are the kinds of remotes: where a key or password belongs, what makes a missing one,
// and the cost of a turn.
var kinds = map[string]struct{ secret, maker, cost string }{
	"cosmos":   {"COSMOS_KEY", `"go run . -provision" in examples/cloudsync`, "a turn of 4 KB: 3 requests, 33 request units; an idle minute: 3 units"},
	"s3":       {"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials and profile=NAME", "the tool of the service", "a turn: 3 PUT and 1 GET, 0.0015 cents at AWS; an idle minute: 1 LIST"},
	"postgres": {"PGPASSWORD or ~/.pgpass", `"sessions remote add" with --provision`, "a turn: 3 statements; an idle minute: 1"},
	"dir":      {"the settings of the mount", `"sessions remote add" with --provision`, "a turn: 3 files; an idle minute: 1 read of a directory"},
}

func (p place) scheme() string {
	scheme, _, ok := strings.Cut(strings.ToLower(string(p)), ":")
	if !ok {
		return ""
	}
	return strings.Replace(scheme, "postgresql", "postgres", 1)
}

// answerTime limits the time for which a command waits for a file server or a sign-in.
var answerTime = 30 * time.Second

// open opens a remote, and closes it when the command is over. Without asking, it waits for a
// directory for less time. No open makes a request, but for a sign-in, and for a directory. A URL
// with a password or key is refused, by an error that does not show it.
func (p place) open(a *app, asking bool) (r remote.Remote, err error) {
	limit := answerTime
	if !asking {
		limit /= 10
	}
	ctx, cancel := context.WithTimeout(a.ctx, limit)
	defer cancel()
	switch p.scheme() {
	case "s3":
		r, err = s3.Open(ctx, string(p), nil)
	case "postgres":
		r, err = postgres.Connect(string(p))
	case "dir":
		a.place = p
		if r, err = dir.Open(ctx, string(p[len("dir:"):])); errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", remote.ErrBlocked, err)
		}
	case "cosmos":
		r, err = p.openCosmos(ctx)
	default:
		err = errors.New("a remote is cosmos://ACCOUNT/DATABASE/CONTAINER, s3://BUCKET/PREFIX?region=NAME, postgres://USER@HOST/DATABASE or dir:/PATH")
	}
	if err != nil {
		return nil, err
	}
	a.place = p
	if c, ok := r.(io.Closer); ok {
		a.later(c.Close)
	}
	return r, nil
}

// open opens a remote. Without asking, it returns the identity alone of an account, which then needs
// no key, and of a remote that the settings know and that cannot be opened, as a directory that is
// not mounted; noteAway says so.
func (s setting) open(a *app, asking bool) (r remote.Remote, identity string, err error) {
	if !asking && s.URL.scheme() == "cosmos" {
		c, err := cosmos.ConfigFromURL(string(s.URL))
		return nil, c.Identity(), err
	}
	r, err = s.URL.open(a, asking)
	if err == nil || asking || s.Identity == "" || a.ctx.Err() != nil {
		return r, "", err
	}
	a.away = err
	return nil, s.Identity, nil
}

// noteAway notes that a remote could not be opened.
func (a *app) noteAway() {
	if a.away != nil {
		a.Notef("The remote cannot be opened: %s. This goes by what was known of it.", screen.Plain(explain(a.away)))
	}
}

func (p place) openCosmos(ctx context.Context) (remote.Remote, error) {
	c, err := cosmos.ConfigFromURL(string(p))
	if err != nil {
		return nil, err
	}
	var cred azcore.TokenCredential
	if c.Key == "" {
		if cred, err = signIn(ctx, c.Endpoint); err != nil {
			return nil, fmt.Errorf("sign in at %s with Microsoft Entra ID, since COSMOS_KEY is not set; run \"az login\", or set COSMOS_KEY: %w", c.Endpoint, err)
		}
	}
	return cosmos.Connect(ctx, c, cred, nil)
}

// signIn returns a credential for an account, after it gave a first token.
func signIn(ctx context.Context, endpoint string) (azcore.TokenCredential, error) {
	at, err := url.Parse(endpoint)
	if err != nil {
		return nil, errors.New("the endpoint is no address")
	}
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	_, err = cred.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{at.Scheme + "://" + at.Hostname() + "/.default"}})
	return cred, err
}

// provision makes the remote where it is missing, but for a bucket and a container.
func (p place) provision(ctx context.Context) error {
	switch p.scheme() {
	case "dir":
		return dir.Provision(ctx, string(p[len("dir:"):]))
	case "postgres":
		return postgres.Provision(ctx, string(p))
	}
	return nil
}

// advice returns a sentence about the way to mend an error of a remote, "" for
// other errors.
func (p place) advice(err error) string {
	switch {
	case p == "", errors.Is(err, hybrid.ErrClock):
		return ""
	case errors.Is(err, hybrid.ErrUnreachable):
		does := "answers"
		if u := (*remote.Unreachable)(nil); errors.As(err, &u) && (u.Kind == remote.Failed || u.Kind == remote.Throttled) {
			does = "does"
		}
		return fmt.Sprintf("Nothing is lost: run the command again when %s %s.", p, does)
	case !errors.Is(err, hybrid.ErrUnauthorized) && !errors.Is(err, hybrid.ErrBlocked):
		return ""
	case p.scheme() == "cosmos" && os.Getenv("COSMOS_KEY") == "":
		return fmt.Sprintf(`Nothing is lost: check %s, or make it by "go run . -provision" in examples/cloudsync. You are signed in with Microsoft Entra ID, since COSMOS_KEY is not set: that identity must be of the account's tenant and have the role that hybrid/README.md, "Setting it up with the least rights", makes, which takes some minutes to arrive.`, p)
	}
	kind := kinds[p.scheme()]
	return fmt.Sprintf(`Nothing is lost: check %s, and %s. "sessions remote check" shows what works; %s makes a remote that is missing.`, p, kind.secret, kind.maker)
}
