// Package s3 implements a [remote.Remote] as a bucket of AWS S3, or of another service
// with the same requests and conditional writes: a [Remote]. It is a module of its own, so
// that programs that do not use it need not have the client.
//
//	remote, err := s3.Open(ctx, "s3://BUCKET/PREFIX?region=eu-west-1", nil)
//	store, err := hybrid.Open(ctx, dir, &hybrid.Options{Remote: remote, …})
//
// The client is the AWS SDK for Go, version 2: it finds keys, roles, region and endpoint
// wherever the AWS tools have them, its retries can be switched off, it signs by the clock
// of the service, it is under the Apache license, and it is of one maker with all that it
// needs. minio-go would do, too, and makes a program of 8.1 MB where this one has 10.5, but
// it follows no role_arn of ~/.aws/config and brings a dozen modules of others.
//
// # Buckets
//
// The bucket must exist. A device needs the rights to s3:GetObject, s3:PutObject and
// s3:DeleteObject below the prefix, and to s3:ListBucket; without that one, S3 answers
// as if a missing object were forbidden. A key that may only read can pull.
//
// A swap is a PUT with If-Match, or with If-None-Match where there is no object. Before its
// first write a Remote tries whether the bucket keeps to both: with two objects below
// PREFIX/_probe/, which it removes. A bucket that ignores or lacks a condition is refused
// with [remote.ErrBlocked], before anything of a session is written: with Backblaze B2,
// and with older versions of other services, two devices could both replace the head of a
// session. Package hybrid keeps the outcome for a week (see [remote.Noter]), for this address
// and device alone, since a proxy on the way to the bucket may drop the conditions. Directory buckets (S3 Express One Zone) are refused, too: their lists are in no
// order.
//
// A bucket with versioning keeps all that is replaced or removed, so a removed session can
// still be read there: give such a bucket a lifecycle rule for noncurrent versions.
//
// # Requests
//
// A write is made once, and so is a read, but for a connection that turns out to have
// ended. A request that the service does not do just now, for which it names no time to wait,
// is made three times, as by the AWS SDK: with 429 and SlowDown, and with 5xx where it is no
// swap. One that is refused because of the clock is made once more, signed by the time of
// that answer. Package throttle decides about all other repeats. Each answer is one
// of the errors of package remote:
//
//	nil             2xx
//	ErrUnchanged    304
//	ErrNotExist     404 with NoSuchKey; in a swap it is ErrChanged
//	ErrChanged      412, and 409 with ConditionalRequestConflict: another write came first
//	ErrTooLarge     413, EntityTooLarge, and an answer larger than any object
//	Throttled       429, SlowDown, 409 with OperationAborted: not done
//	ErrUnreachable  other 409, 499 and 5xx, RequestTimeout, no answer, an answer that is not from
//	                the service: the outcome is unknown, so a swap is ErrUnknown
//	ErrUnauthorized no keys are found, or their token has ended; where a sign-in service does
//	                not answer, it is ErrUnreachable
//	ErrRefused      403 with AccessDenied to a write: reads go on; and all 4xx without a line here
//	ErrBlocked      other 401 and 403, another region, no bucket, a full disk
//	ErrClock        RequestTimeTooSkewed, also the second time; it is ErrBlocked, too
//
// # Objects
//
// The key of an object is PREFIX/<part>/<name>. Its content is a line of JSON, the label
// and the body:
//
//	{"op":"<random>","label":<bytes>,"body":<bytes>}
//
// Because of op no two contents are the same, and so no two ETags: the version of an object
// is its ETag. An object whose line or length does not match is of another tool. It has a
// version, and neither label nor body.
//
// The time of an object is its Last-Modified, in seconds.
//
// # Costs
//
// A list is a LIST for each 1,000 keys, and a GET of the first 4 KB of each object, 16 at
// once; a label that does not end there takes one more. A label of at most 1 KB that was
// read is remembered with its ETag: the next list of the object needs no GET. A removal is a
// DELETE for each object, which AWS does not charge.
//
//	                                      PUT  GET  LIST  DELETE  bytes up  bytes down
//	a turn of 4 KB                          3    1     0       0      3 KB           0
//	the first write of a device in a week  +5    0     0      +2    0.5 KB           0
//	Refresh of a session                    0    1     0       0         0           0
//	an idle minute, up to 1,000 sessions    0    0     1       0         0      400 KB
//	first list of 100 sessions              0  100     1       0         0       60 KB
//	300 turns, to a new device              0  601     1       0         0        1 MB
//
// The last line is a session that was never pruned. TestCosts holds the table, with bytes
// of contents. At the prices of AWS in 2026, a PUT or LIST costs $0.000005 and a GET a
// twelfth of that: 1,000 turns cost 1.5 cents, and a device that runs all month 22.
package s3
