package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// An Account is a cloud with one container.
type Account struct {
	position  func() uint64
	container *azcosmos.ContainerClient
	server    *cosmostest.Server

	mu  sync.Mutex // guards the rest; requests are made one at a time
	now time.Time  // of the request under way
	out *json.Encoder
}

// A request is a request that changed the account.
type request struct {
	At     uint64      `json:"at"` // how many entries the disk's record had when it was done
	Time   time.Time   `json:"time"`
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

const name = "sessions" // of the database and of the container

// New returns an empty account. It writes the requests that change the account to out, with
// the position of the disk's record.
func New(ctx context.Context, out io.Writer, position func() uint64) (*Account, error) {
	return again(ctx, nil, 0, out, position)
}

// Again returns the account as it was at the cut, from the log that New wrote. It writes
// the requests that changed it until then, and the requests that change it from now on, to
// out.
func Again(ctx context.Context, log io.Reader, cut int, out io.Writer, position func() uint64) (*Account, error) {
	var done []request
	for d := json.NewDecoder(log); ; {
		var r request
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		done = append(done, r)
	}
	return again(ctx, done, cut, out, position)
}

func again(ctx context.Context, done []request, cut int, out io.Writer, position func() uint64) (*Account, error) {
	a := &Account{position: position, out: json.NewEncoder(out)}
	a.server = cosmostest.New(&cosmostest.Options{Now: func() time.Time { return a.now }})
	for _, r := range done {
		if r.At > uint64(cut) {
			break
		}
		r.At = 0 // it was there before the next requests
		if err := a.repeat(ctx, r); err != nil {
			return nil, err
		}
	}
	cred, err := azcosmos.NewKeyCredential(a.server.Key())
	if err != nil {
		return nil, err
	}
	client, err := azcosmos.NewClientWithKey(a.server.Endpoint(), cred, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: a}})
	if err != nil {
		return nil, err
	}
	if len(done) == 0 {
		err = cosmos.Provision(ctx, client, name, name)
	}
	if err == nil {
		a.container, err = client.NewContainer(name, name)
	}
	return a, err
}

// repeat makes a request once more, at its time.
func (a *Account) repeat(ctx context.Context, r request) error {
	hr, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return err
	}
	hr.Header, a.now = r.Header, r.Time
	answer, err := a.server.Transport().Do(hr)
	if err != nil {
		return err
	}
	return errors.Join(answer.Body.Close(), a.out.Encode(r))
}

// Do makes a request. It is the transport of the client.
func (a *Account) Do(hr *http.Request) (*http.Response, error) {
	var body []byte
	if hr.Body != nil {
		var err error
		if body, err = io.ReadAll(hr.Body); err != nil {
			return nil, err
		}
		hr.Body = io.NopCloser(bytes.NewReader(body))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = time.Now()
	answer, err := a.server.Transport().Do(hr)
	if err != nil || hr.Method == http.MethodGet {
		return answer, err
	}
	return answer, a.out.Encode(request{a.position(), a.now, hr.Method, hr.URL.String(), hr.Header, body})
}

// Open opens a directory below root that is copied to the account on demand only,
// as a project of its own. Without a name the device is the machine.
func (a *Account) Open(ctx context.Context, root, dir, device string, d sessionstore.Durability) (*hybrid.Store, error) {
	return hybrid.Open(ctx, filepath.Join(root, dir), &hybrid.Options{
		Store:  &sessionstore.Options{Durability: d},
		Remote: cosmos.New(a.container), Project: dir, User: "ada", Device: device, Manual: true,
	})
}
