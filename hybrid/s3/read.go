package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Get implements [remote.Remote].
func (r *Remote) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	in := s3.GetObjectInput{Bucket: &r.bucket, Key: r.key(part, name)}
	if known != "" {
		in.IfNoneMatch = quoted(known)
	}
	o, stored, err := r.read(ctx, name, &in, 0, 0)
	if err != nil {
		return remote.Object{}, err
	}
	if o.Version == known { // the server knows no conditional reads
		return remote.Object{}, remote.ErrUnchanged
	}
	if label, body, ok := decode(stored.bytes, stored.size); ok && int64(len(stored.bytes)) == stored.size {
		if err := remote.TooLarge(int64(body-label), stored.size-int64(body)); err != nil {
			return remote.Object{}, err
		}
		o.Label, o.Body = stored.bytes[label:body:body], stored.bytes[body:]
	}
	return o, nil
}

// stored is the bytes of an object, or of its beginning.
type stored struct {
	bytes []byte
	size  int64 // of the whole
}

// read makes a request for the bytes of an object from one place up to another; 0: to its
// end. The object that it returns has neither label nor body. Of a server that answers with
// all of it, read keeps no more.
func (r *Remote) read(ctx context.Context, name string, in *s3.GetObjectInput, from, to int) (o remote.Object, s stored, err error) {
	if in.Range = nil; to > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", from, to-1))
	}
	err = r.do(ctx, func(ctx context.Context) error {
		out, err := r.client.GetObject(ctx, in)
		if err != nil {
			return err
		}
		defer func() { _ = out.Body.Close() }() // it was read, or its error is known
		s.size = aws.ToInt64(out.ContentLength)
		if _, whole, ok := strings.Cut(aws.ToString(out.ContentRange), "/"); ok {
			if s.size, err = strconv.ParseInt(whole, 10, 64); err != nil {
				return errElsewhere
			}
		}
		o = remote.Object{Name: name, Version: version(out.ETag), Time: aws.ToTime(out.LastModified).UTC()}
		if o.Version == "" {
			return errNoETag
		}
		if o.Time.IsZero() {
			return errElsewhere
		}
		if to == 0 && s.size > maxContent {
			return fmt.Errorf("%w: it has %d bytes", remote.ErrTooLarge, s.size)
		}
		body := io.Reader(out.Body)
		if out.ContentRange == nil && from > 0 {
			if _, err = io.CopyN(io.Discard, body, int64(from)); err != nil {
				return err
			}
		}
		if to > 0 {
			body = io.LimitReader(body, int64(to-from))
		}
		s.bytes, err = io.ReadAll(body)
		if err == nil && out.ContentLength == nil && out.ContentRange == nil { // as some proxies pass it on
			s.size, err = io.Copy(io.Discard, out.Body)
			s.size += int64(from + len(s.bytes))
		}
		return err
	})
	return o, s, err
}

// version returns the version that an ETag names, and quoted the ETag of a version. Some
// servers quote it in some answers, and some proxies mark it as weak.
func version(etag *string) remote.Version {
	return remote.Version(strings.Trim(strings.TrimPrefix(aws.ToString(etag), "W/"), `"`))
}

func quoted(v remote.Version) *string {
	etag := `"` + string(v) + `"`
	return &etag
}

// List implements [remote.Remote].
func (r *Remote) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		for next := (*string)(nil); ; {
			page, more, err := r.page(ctx, part, &q, next)
			if err != nil {
				yield(remote.Object{}, err)
				return
			}
			for o, err := range r.labels(ctx, part, page) {
				if !yield(o, err) || err != nil {
					return
				}
			}
			if next = more; next == nil {
				return
			}
		}
	}
}

// plain are the names of objects. Other tools store keys of their own.
var plain = regexp.MustCompile(`^[a-z0-9-]+$`)

// page returns the objects of a page of a list, without their labels, and the token of the
// next page; nil: there is none.
func (r *Remote) page(ctx context.Context, part string, q *remote.Query, token *string) (all []remote.Object, next *string, err error) {
	in := s3.ListObjectsV2Input{Bucket: &r.bucket, Prefix: r.key(part, q.Prefix), ContinuationToken: token}
	if q.After != "" {
		in.StartAfter = r.key(part, q.After)
	}
	err = r.do(ctx, func(ctx context.Context) error {
		out, err := r.client.ListObjectsV2(ctx, &in)
		if err == nil && aws.ToString(out.Name) == "" {
			err = errElsewhere
		}
		if err != nil {
			return err
		}
		if aws.ToBool(out.IsTruncated) {
			if next = out.NextContinuationToken; aws.ToString(next) == "" {
				return errors.New("the service ends a list without its rest")
			}
		}
		for i := range out.Contents {
			entry := &out.Contents[i]
			o := remote.Object{
				Name:    strings.TrimPrefix(aws.ToString(entry.Key), *r.key(part, "")),
				Version: version(entry.ETag),
				Time:    aws.ToTime(entry.LastModified).UTC().Truncate(time.Second), // a read returns no more
			}
			if plain.MatchString(o.Name) && o.Name > q.After && !o.Time.Before(q.Since.Truncate(time.Second)) {
				all = append(all, o)
			}
		}
		return nil
	})
	return all, next, err
}

// labels yields the objects of a page with their labels. It reads some ahead, and leaves
// out those that were removed.
func (r *Remote) labels(ctx context.Context, part string, page []remote.Object) iter.Seq2[remote.Object, error] {
	type labelled struct {
		o   remote.Object
		err error
	}
	return func(yield func(remote.Object, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var work sync.WaitGroup
		defer work.Wait()
		defer cancel()
		begun := make([]chan labelled, 0, len(page))
		for i := range page {
			for len(begun) < min(i+atOnce, len(page)) {
				c, o := make(chan labelled, 1), page[len(begun)]
				begun = append(begun, c)
				if r.known.label(*r.key(part, o.Name), &o) {
					c <- labelled{o, nil}
					continue
				}
				work.Go(func() {
					o, err := r.label(ctx, part, o.Name)
					c <- labelled{o, err}
				})
			}
			got := <-begun[i]
			if errors.Is(got.err, remote.ErrNotExist) {
				continue
			}
			if !yield(got.o, got.err) || got.err != nil {
				return
			}
		}
	}
}

// label returns an object without its body, and without its label where that is too large.
func (r *Remote) label(ctx context.Context, part, name string) (o remote.Object, err error) {
	for range maxReads {
		in := s3.GetObjectInput{Bucket: &r.bucket, Key: r.key(part, name)}
		o, s, err := r.read(ctx, name, &in, 0, firstRead)
		if errors.Is(err, errNoRange) { // it is empty, and so of another tool
			o, s, err = r.read(ctx, name, &in, 0, 0)
		}
		if errors.Is(err, remote.ErrTooLarge) {
			return o, nil
		}
		if err != nil {
			return o, err
		}
		from, to, ok := decode(s.bytes, s.size)
		if !ok || to-from > remote.MaxLabel {
			return o, nil
		}
		if to <= len(s.bytes) {
			o.Label = s.bytes[from:to:to]
			r.known.add(*in.Key, &o)
			return o, nil
		}
		in.IfMatch = quoted(o.Version)
		_, rest, err := r.read(ctx, name, &in, len(s.bytes), to)
		if errors.Is(err, remote.ErrChanged) {
			continue
		}
		if o.Label = append(s.bytes[from:], rest.bytes...); err == nil && len(o.Label) != to-from {
			err = errElsewhere
		}
		return o, err
	}
	return o, &remote.Unreachable{Err: errors.New("the object changed whenever its label was read")}
}

// maxReads is how often a long label is read that is replaced in between.
const maxReads = 4

// cache holds short labels that were read, by the keys of their objects. A list that has
// the same version needs no request for its label: a store reads the newest entries of the
// catalogue each minute.
type cache struct {
	mu  sync.Mutex // guards all
	all map[string]labelOf
}

type labelOf struct {
	version remote.Version
	text    string
}

// The limits of a cache, of 4 MB in all.
const (
	maxLabels = 4000
	maxLabel  = 1 << 10
)

// label sets the label of an object that was listed, and reports whether it is known.
func (l *cache) label(key string, o *remote.Object) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.all[key]
	if !ok || o.Version == "" || known.version != o.Version {
		return false
	}
	o.Label = []byte(known.text)
	return true
}

func (l *cache) add(key string, o *remote.Object) {
	if len(o.Label) > maxLabel {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil || len(l.all) >= maxLabels {
		l.all = map[string]labelOf{}
	}
	l.all[key] = labelOf{o.Version, string(o.Label)}
}
