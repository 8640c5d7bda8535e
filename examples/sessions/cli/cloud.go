package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// cloudCommands are the commands about the copy in the cloud.
type cloudCommands struct {
	Sync   syncCommand   `cmd:"" group:"Cloud" help:"Bring sessions into step with the cloud, both ways."`
	Pull   pullCommand   `cmd:"" group:"Cloud" help:"Bring sessions of other devices here."`
	Status statusCommand `cmd:"" group:"Cloud" help:"Show which sessions the cloud has, without asking it."`
	Remote remoteCommand `cmd:"" group:"Cloud" help:"Look into the cloud's copy, restore, check, prune or remove what it has."`

	KeepLocal keepLocalCommand `cmd:"" group:"Cloud" help:"Keep sessions from ever leaving this machine."`
}

const cloudHelp = `The container is that of COSMOS_ENDPOINT, COSMOS_DATABASE, COSMOS_CONTAINER and COSMOS_KEY, else the section cosmos of ~/.amplifier/settings.yaml with endpoint, database, container and key. Without a key the command signs in with Microsoft Entra ID, as "az login" or the AZURE variables say; hybrid/README.md tells which rights are enough. A project is known in the cloud by the name of its directory, which tells its path: where devices have it at different paths, give all of them one --as. What is set in the environment counts for "delete" too, which keeps what the cloud lacks.`

// cloudFlags say what of which copy a command is about.
type cloudFlags struct {
	local
	AllProjects bool   `help:"All projects that are here, not the working directory's alone." group:"Where"`
	As          string `env:"COSMOS_PROJECT" placeholder:"NAME" help:"Name of the project in the cloud (COSMOS_PROJECT; default: the name of its directory)." group:"Cloud"`
	User        string `env:"COSMOS_USER" placeholder:"NAME" help:"Owner of the sessions in the cloud (COSMOS_USER; default: nobody in particular)." group:"Cloud"`
	Redact      bool   `help:"Replace what looks like a secret before it is sent (COSMOS_REDACT=true). All devices must do the same." group:"Cloud"`
}

// errNoCloud is returned when no cloud is configured. It names the settings.
var errNoCloud = errors.New("no cloud is configured: set COSMOS_ENDPOINT, and COSMOS_KEY unless you signed in with \"az login\", or the section cosmos of ~/.amplifier/settings.yaml. All other commands work without one")

// errNoAddress is returned when the endpoint is no address. It does not show the endpoint,
// which may be a connection string with the key.
var errNoAddress = errors.New("COSMOS_ENDPOINT, or endpoint in ~/.amplifier/settings.yaml, is no address as https://NAME.documents.azure.com/")

func isAddress(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Host != ""
}

// account returns the configured container, whose Key may be empty; the error Is
// errNoCloud when there is none.
func account() (cosmos.Config, error) {
	c, ok := cosmos.ConfigFromEnv()
	if !ok {
		var err error
		if c, ok, err = cosmos.ConfigFromSettings(""); err != nil {
			return c, err
		}
	}
	switch {
	case !ok:
		return c, errNoCloud
	case !isAddress(c.Endpoint):
		return c, errNoAddress
	}
	return c, nil
}

// unusedKey takes the place of a missing key where no request is made.
const unusedKey = "AA=="

// connect sets o.Remote to the container that config names. With asking, it first checks
// that the account answers and, without a key, that a sign-in succeeds.
func connect(ctx context.Context, config cosmos.Config, asking bool, o *hybrid.Options) (err error) {
	if !asking {
		config.Key = cmp.Or(config.Key, unusedKey)
		o.Remote, err = cosmos.Connect(ctx, config, nil, nil)
		return err
	}
	if err := reach(ctx, config.Endpoint); err != nil {
		return err
	}
	var cred azcore.TokenCredential
	if config.Key == "" {
		if cred, err = signIn(ctx, config.Endpoint); err != nil {
			return fmt.Errorf("sign in at %s with Microsoft Entra ID, since COSMOS_KEY is not set; run \"az login\", or set COSMOS_KEY: %w", screen.Plain(config.Endpoint), err)
		}
	}
	o.Remote, err = cosmos.Connect(ctx, config, cred, nil)
	return err
}

// signInTime limits the time of a sign-in, which may run other programs.
const signInTime = 30 * time.Second

// signIn returns a credential for an account, after it gave a first token.
func signIn(ctx context.Context, endpoint string) (azcore.TokenCredential, error) {
	at, err := url.Parse(endpoint)
	if err != nil {
		return nil, errNoAddress
	}
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, signInTime)
	defer cancel()
	_, err = cred.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{at.Scheme + "://" + at.Hostname() + "/.default"}})
	return cred, err
}

// errNoRole is the advice that goes with [hybrid.ErrUnauthorized].
var errNoRole = errors.New(`you are signed in with Microsoft Entra ID, since COSMOS_KEY is not set: that identity must be of the account's tenant and have the role that hybrid/README.md, "Setting it up with the least rights", makes, which takes some minutes to arrive`)

// answerTime limits the time that an account may take for an answer of any kind.
const answerTime = 10 * time.Second

// reach returns an error unless an account answers within answerTime. The library would
// go on trying, as a program that runs for long needs; a command must not keep its user
// waiting.
func reach(ctx context.Context, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, endpoint, nil)
	if err != nil {
		return errNoAddress
	}
	answer, err := http.DefaultClient.Do(req)
	if err == nil {
		return answer.Body.Close()
	}
	if bad := (*url.Error)(nil); errors.As(err, &bad) {
		err = bad.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer in %v", answerTime)
	}
	return fmt.Errorf("%w at %s: %w; nothing was changed, run the command again when it can", hybrid.ErrUnreachable, screen.Plain(endpoint), err)
}

// remote is a project with its copy in the cloud.
type remote struct {
	*hybrid.Store
	project string   // its directory's name
	ids     []string // of the sessions that a command is about; none: all
}

// open opens the projects that the flags name. With make, a project that does not
// exist is made. With asking, open first checks that the account answers.
func (f cloudFlags) open(a *app, asking, make bool, told func(hybrid.Status)) ([]remote, error) {
	config, err := account()
	if err != nil {
		return nil, err
	}
	if f.AllProjects && f.As != "" {
		return nil, usageError{"--as names one project, not all"}
	}
	dirs, err := f.dirs(a, make)
	if err != nil {
		return nil, err
	}
	var copied hybrid.Options
	if err := connect(a.ctx, config, asking, &copied); err != nil {
		return nil, err
	}
	limits := &hybrid.Limits{}
	var all []remote
	for _, dir := range dirs {
		project := filepath.Base(filepath.Dir(dir))
		o := f.options(a, project)
		o.Remote, o.Limits, o.OnStatus = copied.Remote, limits, told
		st, err := hybrid.Open(a.ctx, dir, o)
		if err != nil {
			return nil, err
		}
		a.later(st.Close)
		all = append(all, remote{Store: st, project: project})
	}
	return all, nil
}

// options returns the options of a project's copy, from the flags and the environment.
func (f cloudFlags) options(a *app, project string) *hybrid.Options {
	o := &hybrid.Options{Project: cmp.Or(f.As, project), User: f.User, Manual: true}
	if redact, _ := strconv.ParseBool(a.env("COSMOS_REDACT")); redact || f.Redact {
		o.Redact = hybrid.Secrets()
	}
	return o
}

// refused adds to the error of an account that refuses requests the settings to check.
func refused(err error, c cosmos.Config) error {
	if !errors.Is(err, hybrid.ErrBlocked) || errors.Is(err, hybrid.ErrClock) {
		return err
	}
	if c.Key == "" {
		return fmt.Errorf("%w; the account is %s, with database %s and container %s: check them; %w", err, screen.Plain(c.Endpoint), screen.Plain(c.Database), screen.Plain(c.Container), errNoRole)
	}
	return fmt.Errorf(`%w; the account is %s, with database %s and container %s: check them and COSMOS_KEY. "go run . -provision" in examples/cloudsync makes a container that is missing`,
		err, screen.Plain(c.Endpoint), screen.Plain(c.Database), screen.Plain(c.Container))
}

// dirs returns the sessions directories that the flags name.
func (f cloudFlags) dirs(a *app, make bool) (dirs []string, err error) {
	p, err := a.projects(where(f.local))
	if err != nil {
		return nil, err
	}
	if f.AllProjects {
		slugs, err := p.Slugs(a.ctx)
		for _, slug := range slugs {
			dirs = append(dirs, filepath.Join(p.Dir(), slug, "sessions"))
		}
		return dirs, err
	}
	slug, err := where(f.local).slug(p.Dir(), true)
	if !make {
		slug, err = where(f.local).existing(a, p, true)
	}
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(p.Dir(), slug, "sessions")
	if !make && !isDir(dir) {
		return nil, nil
	}
	return []string{dir}, nil
}

// choose sets the ids of each project to the sessions that refs mean, and leaves out
// the projects without such a session. Without refs it returns all unchanged: the
// command is about all sessions of all projects.
func (a *app) choose(all []remote, refs []string) ([]remote, error) {
	if len(refs) == 0 {
		return all, nil
	}
	found := make([][]string, len(all))
	for _, ref := range refs {
		known := false
		for i, r := range all {
			id, err := r.meant(a, ref)
			if errors.Is(err, sessionstore.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			known = true
			found[i] = append(found[i], id)
		}
		if !known {
			return nil, notInCloud(ref)
		}
	}
	var chosen []remote
	for i, r := range all {
		if r.ids = found[i]; len(r.ids) > 0 {
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}

// meant returns the id of the session of r that ref means. A ref is a whole id, or the
// beginning of the id of a session that is here or in the cloud's list. The error Is
// [sessionstore.ErrNotFound] when there is no such session.
func (r remote) meant(a *app, ref string) (string, error) {
	if ref == "" {
		return "", noSession(ref)
	}
	if r.Exists(ref) {
		return ref, nil
	}
	listed, err := r.Remote(a.ctx)
	if err != nil {
		return "", err
	}
	there := make([]string, len(listed))
	for i, s := range listed {
		there[i] = s.SessionID
	}
	ref = elidedIn(ref, there)
	var ids []string
	for _, s := range listed {
		switch {
		case s.SessionID == ref:
			return ref, nil
		case !s.Removed && strings.HasPrefix(s.SessionID, ref):
			ids = append(ids, s.SessionID)
		}
	}
	id, err := r.Find(a.ctx, ref, &sessionstore.ListOptions{All: true})
	switch ambiguous := (*sessionstore.AmbiguousError)(nil); {
	case errors.As(err, &ambiguous):
		ids = append(ids, ambiguous.Matches...)
	case err == nil:
		ids = append(ids, id)
	case !errors.Is(err, sessionstore.ErrNotFound):
		return "", err
	}
	slices.Sort(ids)
	switch ids = slices.Compact(ids); len(ids) {
	case 0:
		_, err := r.Preview(a.ctx, ref) // the list may lack what another device sent just now
		if errors.Is(err, sessionstore.ErrNotFound) {
			return "", noSession(ref)
		}
		return ref, nil
	case 1:
		return ids[0], nil
	}
	return besideSubs("", &sessionstore.AmbiguousError{Prefix: ref, Matches: ids})
}

// notInCloud returns the error for a session that is neither here nor in the cloud.
func notInCloud(ref string) error {
	return noSession(ref) + `, here or in the cloud; "sessions remote" lists what is there`
}

// whole returns an error unless each ref is the whole id of its session.
func whole(refs, ids []string) error {
	for i, ref := range refs {
		if ref != ids[i] {
			return fmt.Errorf("%s means %s: what cannot be taken back takes whole ids", screen.Plain(ref), screen.Plain(ids[i]))
		}
	}
	return nil
}
