package s3

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"html"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/served"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var simSeeds = flag.Int("seeds", 0, "how many seeds TestSimulation tries of each server; 0: 8 with TEST_LONG set, else 1")

// TestSimulation is the simulation of package hybrid with a bucket for each seed.
func TestSimulation(t *testing.T) {
	t.Parallel()
	testenv.Seed(t)
	seeds := *simSeeds
	if seeds == 0 {
		seeds = testenv.Share(1, 1, 8)
	}
	for name := range servers {
		t.Run(filepath.Base(name), func(t *testing.T) {
			s, buckets := &server{address: serve(t, name)}, buckets{all: map[string]*stamps{}}
			served.Simulate(t, seeds, func(bucket string, now func() time.Time) (remote.Remote, func(), error) {
				over := &clocked{stamps: buckets.stamps(bucket), now: now}
				r, err := Open(t.Context(), "s3://"+bucket+"?endpoint="+s.address, s.config(over))
				if err != nil {
					return nil, nil, err
				}
				err = r.do(t.Context(), func(ctx context.Context) error {
					_, err := r.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &bucket})
					return err
				})
				if refused := (*statusError)(nil); errors.As(err, &refused) && refused.status == http.StatusConflict {
					err = nil // it is there
				}
				return r, func() {}, err
			})
		})
	}
}

// buckets are the buckets of a simulation.
type buckets struct {
	mu  sync.Mutex // guards all
	all map[string]*stamps
}

func (b *buckets) stamps(bucket string) *stamps {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[bucket] == nil {
		b.all[bucket] = &stamps{at: map[string]time.Time{}}
	}
	return b.all[bucket]
}

// stamps are the times of the objects of a bucket, by their keys and ETags.
type stamps struct {
	mu sync.Mutex // guards at
	at map[string]time.Time
}

func (s *stamps) set(key, etag string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[key+" "+strings.Trim(etag, `"`)] = at.UTC()
}

func (s *stamps) get(key, etag string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[key+" "+strings.Trim(etag, `"`)]
}

// clocked is a transport to a service whose clock is now, as far as answers show. The
// service itself gets requests by its own clock.
type clocked struct {
	*stamps
	now func() time.Time
}

var pool = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * atOnce}}

func (c *clocked) Do(req *http.Request) (*http.Response, error) {
	key := aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}
	req.Header.Del("Authorization")
	err := v4.NewSigner().SignHTTP(req.Context(), key, req, req.Header.Get("X-Amz-Content-Sha256"), "s3", "us-east-1", time.Now(), func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		return nil, err
	}
	a, err := pool.Do(req)
	if err != nil {
		return nil, err
	}
	a.Header.Set("Date", c.now().UTC().Format(http.TimeFormat))
	switch etag := a.Header.Get("ETag"); {
	case a.StatusCode != http.StatusOK && a.StatusCode != http.StatusPartialContent:
	case req.Method == http.MethodPut:
		c.set(req.URL.Path, etag, c.now())
	case etag != "":
		a.Header.Set("Last-Modified", c.get(req.URL.Path, etag).Format(http.TimeFormat))
	case req.Method == http.MethodGet:
		err = c.list(a, strings.TrimSuffix(req.URL.Path, "/"))
	}
	return a, err
}

var (
	listed = regexp.MustCompile(`(?s)<Contents>.*?</Contents>`)
	member = regexp.MustCompile(`<(Key|ETag|LastModified)>(.*?)</`)
)

// list gives the objects of a list their times.
func (c *clocked) list(a *http.Response, bucket string) error {
	text, err := io.ReadAll(a.Body)
	text = listed.ReplaceAllFunc(text, func(entry []byte) []byte {
		is := map[string]string{}
		for _, found := range member.FindAllSubmatch(entry, -1) {
			is[string(found[1])] = string(found[2])
		}
		at := c.get(bucket+"/"+is["Key"], html.UnescapeString(is["ETag"]))
		return bytes.Replace(entry, []byte(is["LastModified"]), []byte(at.Format("2006-01-02T15:04:05.000Z")), 1)
	})
	a.Body, a.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return err
}
