package s3

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Remote is a bucket, or what a bucket holds below a prefix. Its methods may be called by
// many goroutines.
type Remote struct {
	client         *s3.Client
	bucket, prefix string
	identity       string

	proven atomic.Bool   // the bucket keeps to the conditions of writes
	turn   chan struct{} // holds a value while a call finds that out

	known cache

	mu   sync.Mutex // guards time
	time time.Time  // of the newest answer
}

// atOnce is the number of requests of one call that are made at once.
const atOnce = 16

// Info implements [remote.Remote]. It makes no request. No Commit is done whole.
func (r *Remote) Info(context.Context) (remote.Info, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return remote.Info{Identity: r.identity, Time: r.time}, nil
}

// key returns the key of an object.
func (r *Remote) key(part, name string) *string {
	key := r.prefix + part + "/" + name
	return &key
}

// maxAttempts is how often a request is made that the service does not do just now, as often
// as the AWS SDK makes it by default.
const maxAttempts = 3

// repeatFor is how long after its first attempt a request is made again. Later, another device may
// have removed what it stores.
const repeatFor = time.Hour

// do makes one request, and returns its meaning. A request that the service refuses
// because of the clock is made once more: the client then signs by the time of the answer.
func (r *Remote) do(ctx context.Context, request func(ctx context.Context) error) error {
	began := time.Now().Round(0) // also while the machine sleeps
	then, err := r.once(ctx, request)
	for attempt := 1; then == retry && attempt < maxAttempts; attempt++ {
		select {
		case <-time.After(rand.N(time.Second << (attempt - 1))): // as the SDK waits
		case <-ctx.Done():
			return err
		}
		if time.Now().Round(0).Sub(began) > repeatFor {
			return err
		}
		then, err = r.once(ctx, request)
	}
	if then == resign {
		_, err = r.once(ctx, request)
	}
	return err
}

// next is what may follow a request that failed.
type next uint8

const (
	nothing next = iota
	resign       // the service refused it because of the clock
	retry        // the service does not do it just now
)

func (r *Remote) once(ctx context.Context, request func(ctx context.Context) error) (then next, meaning error) {
	t, within := setOut(ctx)
	defer t.over()
	err := request(within)
	then, meaning = t.meaning(err)
	if t.sent {
		remote.Observe(ctx, remote.Request{Start: t.began, Status: t.status, Err: meaning})
	}
	if date, err := http.ParseTime(t.header.Get("Date")); err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.time = date.UTC()
	}
	return then, meaning
}
