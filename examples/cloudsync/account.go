package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// account is the remote of the sessions.
type account struct {
	remote    *cosmos.Remote
	container *azcosmos.ContainerClient // for requests outside the remote
	user      string
	lasting   bool         // the account outlives this program
	close     func() error // ends the server, if this program started it
}

// open opens the account that the environment names, or starts a server whose
// requests take the time delay each.
func open(ctx context.Context, delay time.Duration, provision bool, record *recorder, out *screen) (*account, error) {
	config, named := cosmos.ConfigFromEnv()
	if !named {
		return serve(ctx, delay, record, out)
	}
	var cred azcore.TokenCredential
	if config.Key == "" {
		var err error
		if cred, err = signIn(ctx, config.Endpoint); err != nil {
			return nil, fmt.Errorf("sign in: %w", err)
		}
	}
	if provision {
		if err := prepare(ctx, config, cred); err != nil {
			return nil, err
		}
	}
	a, err := connect(ctx, config, cred, record, out)
	if err != nil {
		return nil, err
	}
	out.printf("The account %s, database %s, container %s.\n", config.Endpoint, config.Database, config.Container)
	a.user, a.lasting, a.close = "cloudsync-"+strings.ToLower(rand.Text()[:8]), true, func() error { return nil }
	return a, nil
}

// signIn checks the login for the account before the first request needs it.
func signIn(ctx context.Context, endpoint string) (azcore.TokenCredential, error) {
	at, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	_, err = cred.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{at.Scheme + "://" + at.Hostname() + "/.default"}})
	return cred, err
}

// connect opens the container and a remote on it. The traffic is shown on out, and recorded
// if record is not nil.
func connect(ctx context.Context, c cosmos.Config, cred azcore.TokenCredential, record *recorder, out *screen) (*account, error) {
	options := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{PerRetryPolicies: []policy.Policy{meter{out}}}}
	if record != nil {
		options.PerRetryPolicies = append(options.PerRetryPolicies, record)
	}
	remote, err := cosmos.Connect(ctx, c, cred, options)
	if err != nil {
		return nil, err
	}
	return &account{remote: remote, container: remote.Container()}, nil
}

// prepare makes the database and the container where they are missing.
func prepare(ctx context.Context, c cosmos.Config, cred azcore.TokenCredential) (err error) {
	var client *azcosmos.Client
	if c.Key == "" {
		client, err = azcosmos.NewClient(c.Endpoint, cred, nil)
	} else {
		var key azcosmos.KeyCredential
		if key, err = azcosmos.NewKeyCredential(c.Key); err == nil {
			client, err = azcosmos.NewClientWithKey(c.Endpoint, key, nil)
		}
	}
	if err != nil {
		return err
	}
	defer client.Close()
	return cosmos.Provision(ctx, client, c.Database, c.Container)
}

// serve starts a server with an empty account.
func serve(ctx context.Context, delay time.Duration, record *recorder, out *screen) (*account, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	memory := cosmostest.New(nil)
	server := &http.Server{Handler: memory, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	end := func() error {
		closing := server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			return errors.Join(err, closing)
		}
		return closing
	}
	config := cosmos.Config{
		Endpoint: "http://" + listener.Addr().String() + "/", Key: memory.Key(),
		Database: cosmos.DefaultDatabase, Container: cosmos.DefaultContainer,
	}
	err = prepare(ctx, config, nil)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	a, err := connect(ctx, config, nil, record, out)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	if delay > 0 {
		memory.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Delay(delay) }))
	}
	out.printf("A server of its own with an empty account, at %s\n", config.Endpoint)
	a.user, a.close = "ada", end
	return a, nil
}
