package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Commit implements [remote.Remote]. Each object is stored by itself.
func (r *Remote) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if err := remote.CheckSizes(objects, swap); err != nil {
		return "", err
	}
	if err := r.prove(ctx); err != nil {
		return "", err
	}
	err := each(ctx, len(objects), func(ctx context.Context, i int) error {
		_, err := r.put(ctx, r.key(part, objects[i].Name), &objects[i], condition{})
		return err
	})
	if err != nil || swap == nil {
		return "", err
	}
	v, err := r.put(ctx, r.key(part, swap.Name), &swap.Object, condition{swap: true, is: swap.If})
	if err == nil {
		_ = r.Delete(ctx, part, swap.Remove) // the swap was made, and remaining objects do no harm
	}
	return v, err
}

// condition is the condition of a write.
type condition struct {
	swap bool           // false: none
	is   remote.Version // the version of the object; "": there is none
}

// put stores an object. The error of a write with a condition is [remote.ErrUnknown] when
// it is not known whether the object was stored.
func (r *Remote) put(ctx context.Context, key *string, o *remote.Object, c condition) (v remote.Version, err error) {
	content, err := encode(o)
	if err != nil {
		return "", err
	}
	in := s3.PutObjectInput{Bucket: &r.bucket, Key: key, ContentType: aws.String("application/octet-stream")}
	switch {
	case c.swap && c.is == "":
		in.IfNoneMatch = aws.String("*")
	case c.swap:
		in.IfMatch = quoted(c.is)
	}
	err = r.do(ctx, func(ctx context.Context) error {
		in.Body = bytes.NewReader(content)
		out, err := r.client.PutObject(ctx, &in)
		if err == nil {
			v = version(out.ETag)
		}
		if err == nil && v == "" {
			err = errNoETag
		}
		return err
	})
	switch {
	case err == nil, !c.swap:
	case errors.Is(err, remote.ErrNotExist), errors.Is(err, remote.ErrUnchanged): // as older servers put it
		return "", fmt.Errorf("%w: %w", remote.ErrChanged, err)
	case undecided(err):
		return "", fmt.Errorf("%w: %w", remote.ErrUnknown, err)
	}
	return v, err
}

// Delete implements [remote.Remote]. Each object is removed by itself, since not all
// services have a request that removes several.
func (r *Remote) Delete(ctx context.Context, part string, names []string) error {
	return each(ctx, len(names), func(ctx context.Context, i int) error {
		err := r.remove(ctx, r.key(part, names[i]))
		if errors.Is(err, remote.ErrNotExist) {
			return nil
		}
		return err
	})
}

func (r *Remote) remove(ctx context.Context, key *string) error {
	return r.do(ctx, func(ctx context.Context) error {
		_, err := r.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &r.bucket, Key: key})
		return err
	})
}

// each calls do with the numbers below n, several at once, until one call fails, and
// returns its error.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	within, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var work sync.WaitGroup
	next := make(chan int)
	for range min(n, atOnce) {
		work.Go(func() {
			for i := range next {
				if within.Err() == nil {
					if err := do(within, i); err != nil {
						fail(err)
					}
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	work.Wait()
	return context.Cause(within)
}
