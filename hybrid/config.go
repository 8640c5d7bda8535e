package hybrid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.yaml.in/yaml/v3"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
)

// Config names a container; [Connect] opens it. Key is the account's key in
// base64, or empty for a credential.
type Config struct{ Endpoint, Database, Container, Key string }

// The names that a Config without them means.
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

// ConfigFromSettings reads the section cosmos of a settings file, with the
// members endpoint, database, container and key; "" is
// ~/.amplifier/settings.yaml (AMPLIFIER_HOME). It reports false when there is
// no file, no such section or no endpoint in it.
func ConfigFromSettings(path string) (Config, bool, error) {
	if path == "" {
		home, err := amplifierHome()
		if err != nil {
			return Config{}, false, wrap("read settings", "", err)
		}
		path = home + string(os.PathSeparator) + "settings.yaml"
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, false, nil
	}
	if err != nil {
		return Config{}, false, wrap("read settings", "", err)
	}
	var settings struct {
		Cosmos struct{ Endpoint, Database, Container, Key string }
	}
	// The decoder's own errors quote the file, which may hold a key.
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&settings); err != nil && len(bytes.TrimSpace(text)) > 0 {
		return Config{}, false, wrap("read settings", "", fmt.Errorf("parse %q: not the YAML that was expected", path))
	}
	c := Config(settings.Cosmos)
	return c.complete(), c.Endpoint != "", nil
}

// Connect returns the container that c names, to be used with cred, or with the account key
// when Key is set; o may be nil. It makes no request and creates nothing. Whether the account
// can be reached, takes the key and has the container shows when a store uses it; the error
// of a call Is [ErrUnreachable] or [ErrBlocked] then. An endpoint that is no address is an
// error of Connect.
func Connect(ctx context.Context, c Config, cred azcore.TokenCredential, o *azcosmos.ClientOptions) (*azcosmos.ContainerClient, error) {
	if err := ctx.Err(); err != nil {
		return nil, wrap("connect", "", err)
	}
	return NewContainer(c, cred, o)
}

// NewContainer is [Connect] without a context.
func NewContainer(c Config, cred azcore.TokenCredential, o *azcosmos.ClientOptions) (*azcosmos.ContainerClient, error) {
	c = c.complete()
	client, err := cosmos.Open(c.Endpoint, c.Key, cred, o)
	if err != nil {
		return nil, wrap("connect", "", err)
	}
	container, err := client.NewContainer(c.Database, c.Container)
	return container, wrap("connect", "", err)
}

// Provision creates the database and the container where they are missing, with the
// partition key and index policy that the copy needs. It needs rights over the
// account. A key has them; a role on data does not. An existing container stays as it
// is; the error Is [ErrBlocked] when its partition key is another one.
func Provision(ctx context.Context, c *azcosmos.Client, database, container string) error {
	return wrap("provision", "", cosmos.Provision(ctx, c, database, container))
}
