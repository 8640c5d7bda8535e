package cosmos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.yaml.in/yaml/v3"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
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
		home, err := sessiondir.AmplifierHome()
		if err != nil {
			return Config{}, false, fmt.Errorf("read settings: %w", err)
		}
		path = home + string(os.PathSeparator) + "settings.yaml"
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, false, nil
	}
	if err != nil {
		return Config{}, false, fmt.Errorf("read settings: %w", err)
	}
	var settings struct {
		Cosmos struct{ Endpoint, Database, Container, Key string }
	}
	// The decoder's own errors quote the file, which may hold a key.
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&settings); err != nil && len(bytes.TrimSpace(text)) > 0 {
		return Config{}, false, fmt.Errorf("read settings: parse %q: not the YAML that was expected", path)
	}
	c := Config(settings.Cosmos)
	return c.complete(), c.Endpoint != "", nil
}

// Connect returns the remote that is the container which c names, to be used with cred, or with
// the account key when Key is set; o may be nil. It makes no request and creates nothing. Whether
// the account can be reached, takes the key and has the container shows when a store uses it;
// the error of a call Is [remote.ErrUnreachable] or [remote.ErrBlocked] then. An endpoint that is
// no address is an error of Connect.
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
	r.identity = fmt.Sprintf("cosmos %s %s/%s", strings.TrimRight(c.Endpoint, "/"), c.Database, c.Container)
	return r, nil
}
