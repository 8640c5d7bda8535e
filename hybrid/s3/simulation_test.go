package s3

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
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
	seeds := *simSeeds
	if seeds == 0 {
		seeds = testenv.Share(1, 1, 8)
	}
	inHybrid(t, "^TestSimulation$", slices.Sorted(maps.Keys(servers)), fmt.Sprint("-seeds=", seeds))
}

// TestElsewhere runs the tests of package hybrid in which a process is killed at a request,
// or stalls at it for longer than the grace time, or devices work at once.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	inHybrid(t, "^Test(KillElsewhere|Stalls|Crowd)$", []string{gofakes3, versitygw}[:testenv.Share(1, 1, 2)])
}

// inHybrid runs tests of package hybrid with buckets of servers.
func inHybrid(t *testing.T, tests string, names []string, flags ...string) {
	t.Helper()
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			s, buckets := &server{address: serve(t, name)}, buckets{all: map[string]*stamps{}}
			served.Run(t, tests, func(d *served.Device) (remote.Remote, error) {
				r, err := Open(t.Context(), "s3://"+d.Place+"?endpoint="+s.address, s.config(&clocked{buckets.stamps(d.Place), d}))
				if err != nil {
					return nil, err
				}
				_, err = r.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &r.bucket}, func(o *s3.Options) { o.HTTPClient = pool })
				if strings.Contains(codeOf(err), "Bucket") { // it is there
					err = nil
				}
				return r, err
			}, flags...)
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

// clocked is a transport to a service that has the clock of the device, as far as answers
// show. Requests are signed by the clock that the service has.
type clocked struct {
	*stamps
	*served.Device
}

var pool = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * atOnce}}

func (c *clocked) Do(req *http.Request) (*http.Response, error) {
	key := aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}
	req.Header.Del("Authorization")
	err := v4.NewSigner().SignHTTP(req.Context(), key, req, req.Header.Get("X-Amz-Content-Sha256"), "s3", "us-east-1", time.Now(), func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		return nil, err
	}
	req = req.WithContext(context.WithoutCancel(req.Context())) // a write that is done has a time
	var a *http.Response
	err = c.Request(func() (err error) {
		if a, err = pool.Do(req); err == nil && req.Method == http.MethodPut && a.StatusCode == http.StatusOK {
			c.set(req.URL.Path, a.Header.Get("ETag"), c.Now())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	a.Header.Set("Date", c.Now().UTC().Format(http.TimeFormat))
	switch etag := a.Header.Get("ETag"); {
	case req.Method == http.MethodPut, a.StatusCode != http.StatusOK && a.StatusCode != http.StatusPartialContent:
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
