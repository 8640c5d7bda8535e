package cosmos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// openAccount returns a client of the account at an endpoint, with the account's key in
// base64, or with cred when key is empty. o may be nil. It makes no request. The error
// never holds the endpoint: in its place there may be a connection string, with the key.
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

// examineTime is how long examine waits for the account.
const examineTime = 10 * time.Second

// examine looks whether the container is there and has the partition key /pk. The error
// Is [remote.ErrBlocked] when there is no such container. An account that does not answer is no
// error, and neither is what another server answers.
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
