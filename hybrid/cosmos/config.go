package cosmos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Config names a container; [Connect] opens it. Key is the account's key in
// base64, or empty for a credential.
type Config struct{ Endpoint, Database, Container, Key string }

// The defaults of the names.
const (
	DefaultDatabase  = "amplifier"
	DefaultContainer = "sync"
)

func (c Config) complete() Config {
	if c.Database == "" {
		c.Database = DefaultDatabase
	}
	if c.Container == "" {
		c.Container = DefaultContainer
	}
	return c
}

// ConfigFromEnv reads COSMOS_ENDPOINT, COSMOS_DATABASE, COSMOS_CONTAINER and
// COSMOS_KEY. It reports false when there is no endpoint. The names have the
// defaults [DefaultDatabase] and [DefaultContainer].
func ConfigFromEnv() (Config, bool) {
	c := Config{
		Endpoint:  os.Getenv("COSMOS_ENDPOINT"),
		Database:  os.Getenv("COSMOS_DATABASE"),
		Container: os.Getenv("COSMOS_CONTAINER"),
		Key:       os.Getenv("COSMOS_KEY"),
	}
	return c.complete(), c.Endpoint != ""
}

// ConfigFromURL reads the place of a container, as cosmos://ACCOUNT/DATABASE/CONTAINER, and
// the key from COSMOS_KEY. Names that are missing are the defaults. An account that is not at
// https://ACCOUNT.documents.azure.com/ has its address in the parameter endpoint. A place
// that holds a key is refused; no error has a part of the place.
func ConfigFromURL(place string) (Config, error) {
	bad := errors.New("the place is no address: one is like cosmos://ACCOUNT/DATABASE/CONTAINER, without a key: that belongs to COSMOS_KEY")
	u, err := url.Parse(place)
	if err != nil || u.Scheme != "cosmos" || u.Hostname() == "" || u.Port() != "" || u.User != nil || u.Fragment != "" || strings.ContainsAny(u.Host+u.Path, "=;") {
		return Config{}, bad
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil { // u.Query leaves out what it does not understand
		return Config{}, bad
	}
	names := strings.Split(strings.Trim(u.Path, "/")+"/", "/")
	c := Config{Endpoint: cmp.Or(q.Get("endpoint"), "https://"+u.Hostname()+".documents.azure.com/"), Database: names[0], Container: names[1], Key: os.Getenv("COSMOS_KEY")}
	at, err := url.Parse(c.Endpoint)
	if q.Del("endpoint"); len(q) > 0 || len(names) > 3 || err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" || strings.ContainsAny(at.Host+at.Path, "=;") {
		return Config{}, bad
	}
	return c.complete(), nil
}

// Connect returns the remote for the container of c, with cred, or with the account key
// when Key is set; o may be nil. It makes no request and creates nothing. Whether the
// account can be reached, accepts the key and has the container shows when a store uses
// it; the error of a call Is [remote.ErrUnreachable] or [remote.ErrBlocked] then. An
// endpoint that is no address is an error of Connect.
func Connect(ctx context.Context, c Config, cred azcore.TokenCredential, o *azcosmos.ClientOptions) (*Remote, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	c = c.complete()
	client, err := openAccount(c.Endpoint, c.Key, cred, o)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	container, err := client.NewContainer(c.Database, c.Container)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	r := New(container)
	r.identity = c.Identity()
	return r, nil
}

// Identity returns the identity that the remote of c has, as [remote.Info] tells it, also
// where there is no key.
func (c Config) Identity() string {
	c = c.complete()
	return fmt.Sprintf("cosmos %s %s/%s", strings.TrimRight(c.Endpoint, "/"), c.Database, c.Container)
}

// openAccount returns a client of the account at an endpoint, with the account's key in
// base64, or with cred when key is empty. o may be nil. It makes no request. The error
// never holds the endpoint: a user may have given a connection string with the key
// instead.
func openAccount(endpoint, key string, cred azcore.TokenCredential, o *azcosmos.ClientOptions) (*azcosmos.Client, error) {
	at, err := url.Parse(endpoint)
	if bad := (*url.Error)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("the endpoint is no address: %w", bad.Err)
	}
	port, err := strconv.ParseUint(cmp.Or(at.Port(), "443"), 10, 16)
	if at.Scheme != "https" && at.Scheme != "http" || at.Hostname() == "" || err != nil || port == 0 {
		return nil, errors.New("the endpoint is no address: one is like https://NAME.documents.azure.com/")
	}
	return open(endpoint, key, cred, o)
}

func open(endpoint, key string, cred azcore.TokenCredential, o *azcosmos.ClientOptions) (*azcosmos.Client, error) {
	if key == "" {
		if cred == nil {
			return nil, errors.New("neither key nor credential")
		}
		tokens, err := newBearer(endpoint, cred, o)
		if err != nil {
			return nil, err
		}
		own := withPolicies(o)
		own.PerRetryPolicies = slices.Concat([]policy.Policy{tokens}, own.PerRetryPolicies)
		return azcosmos.NewClient(endpoint, placeholder{}, own)
	}
	c, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		return nil, errors.New("account key is not base64")
	}
	return azcosmos.NewClientWithKey(endpoint, c, withPolicies(o))
}

// examineTime is the longest time that examine waits for the account.
const examineTime = 10 * time.Second

// examine checks that the container exists and has the partition key /pk. The error Is
// [remote.ErrBlocked] when there is no such container. An account that does not answer is
// no error, and neither is an answer of another server.
func examine(ctx context.Context, container *azcosmos.ContainerClient) error {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	found, err := container.Read(policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1}), nil)
	if err, _ = outcome(err); err != nil {
		a := classify(err, time.Now())
		a.requireService(answered(nil, err))
		switch {
		case errors.Is(a.Err, errNoContainer), a.status == http.StatusUnauthorized && errors.Is(a.Err, remote.ErrBlocked): // reading metadata may be forbidden while data is not
			return a.Err
		case a.missing():
			return errNoContainer
		}
		return nil
	}
	if paths := found.ContainerProperties.PartitionKeyDefinition.Paths; !slices.Equal(paths, []string{"/pk"}) {
		return fmt.Errorf("%w: the container's partition key is not /pk", remote.ErrBlocked)
	}
	return nil
}

// Provision creates the database and the container where they are missing.
func Provision(ctx context.Context, c *azcosmos.Client, database, container string) error {
	_, err := c.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: database}, nil)
	if err := unlessThere(err); err != nil {
		return err
	}
	db, err := c.NewDatabase(database)
	if err != nil {
		return err
	}
	_, err = db.CreateContainer(ctx, properties(container), nil)
	if err := unlessThere(err); err != nil {
		return err
	}
	made, err := db.NewContainer(container)
	if err != nil {
		return err
	}
	return examine(ctx, made)
}

func unlessThere(err error) error {
	if e := (*azcore.ResponseError)(nil); errors.As(err, &e) {
		if e.StatusCode == http.StatusConflict {
			return nil
		}
		return &statusError{status: e.StatusCode, code: e.ErrorCode}
	}
	return err
}

// properties is the container: the partition key is indexed and no other path, since each
// adds to the cost of every write. The service indexes /id and /_ts by itself.
func properties(id string) azcosmos.ContainerProperties {
	policy := azcosmos.IndexingPolicy{
		Automatic:     true,
		IndexingMode:  azcosmos.IndexingModeConsistent,
		IncludedPaths: []azcosmos.IncludedPath{{Path: "/pk/?"}},
		ExcludedPaths: []azcosmos.ExcludedPath{{Path: "/*"}},
	}
	return azcosmos.ContainerProperties{
		ID:                     id,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Kind: azcosmos.PartitionKeyKindHash, Paths: []string{"/pk"}, Version: 2},
		IndexingPolicy:         &policy,
	}
}
