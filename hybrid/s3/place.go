package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

// Open returns the remote at a place:
//
//	s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME&style=path|host&profile=NAME]
//
// endpoint is the address of another service than AWS, region the region of the bucket,
// and profile a section of the shared files of the AWS tools. style says where the bucket
// is named: in the path of requests, which is the default with an endpoint, or in the
// host. Keys, region and endpoint that the place does not name are where the AWS tools have
// them: in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,
// AWS_ENDPOINT_URL_S3, in ~/.aws/config and ~/.aws/credentials, with single sign-on and
// roles, and in the machine's own role.
//
// own is the configuration of a program that has one; nil: it is read as above. Open makes
// no request. Whether the service can be reached, takes the key and has the bucket shows
// when a store uses it. No error has a part of the place that may be a secret.
func Open(ctx context.Context, place string, own *aws.Config) (*Remote, error) {
	r, err := open(ctx, place, own)
	if err != nil {
		return nil, fmt.Errorf("open remote s3: %w", err)
	}
	return r, nil
}

func open(ctx context.Context, place string, own *aws.Config) (*Remote, error) {
	p, err := parse(place)
	if err != nil {
		return nil, err
	}
	c, err := p.config(ctx, own)
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(c, func(o *s3.Options) {
		o.UsePathStyle = p.style == "path" || p.style == "" && o.BaseEndpoint != nil
		o.Retryer = aws.NopRetryer{}
		o.HTTPClient = &wire{next: c.HTTPClient}
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired // other services refuse the headers
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		o.DisableLogOutputChecksumValidationSkipped = true
	})
	o := client.Options()
	if o.Region == "" {
		return nil, errors.New("no region: add region=NAME to the place, or set AWS_REGION")
	}
	at := strings.TrimRight(cmp.Or(aws.ToString(o.BaseEndpoint), "aws"), "/")
	return &Remote{
		client: client, bucket: p.bucket, prefix: p.prefix,
		identity: fmt.Sprintf("s3 %s %s/%s", at, p.bucket, p.prefix),
		turn:     make(chan struct{}, 1),
	}, nil
}

// place is the parts of a place. The prefix is empty or ends with a slash.
type place struct{ bucket, prefix, endpoint, region, style, profile string }

// maxPrefix is the greatest length of a prefix: keys have 1024 bytes at most.
const maxPrefix = 700

func parse(text string) (p place, err error) {
	u, err := url.Parse(text)
	if bad := (*url.Error)(nil); errors.As(err, &bad) {
		return p, errors.New("the place is no address: one is like s3://BUCKET/PREFIX?region=NAME")
	}
	if plain, _ := url.PathUnescape(text); u.User != nil || secrets.MatchString(plain) {
		return p, errKeys
	}
	if u.Scheme != "s3" || u.Host == "" || u.Fragment != "" || strings.ContainsAny(u.Host, ":[]") {
		return p, errors.New("the place is no address: one is like s3://BUCKET/PREFIX?region=NAME")
	}
	p.bucket = u.Host
	if strings.HasSuffix(p.bucket, "--x-s3") {
		return p, errors.New("the bucket is a directory bucket, which lists in no order: give a general purpose bucket")
	}
	if p.prefix = strings.Trim(u.Path, "/"); p.prefix != "" {
		p.prefix += "/"
	}
	for step := range strings.SplitSeq(strings.TrimSuffix(p.prefix, "/"), "/") {
		if p.prefix != "" && (step == "" || step == "." || step == "..") || len(p.prefix) > maxPrefix {
			return p, fmt.Errorf("the prefix has an empty step, . or .., or more than %d bytes", maxPrefix)
		}
	}
	return p, p.query(u.RawQuery)
}

var errKeys = errors.New("a place holds no keys: put them into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or into ~/.aws/credentials and add profile=NAME")

// secrets matches the name of a secret, wherever in a place it is.
var secrets = regexp.MustCompile(`(?i)(key|secret|token|password)[\w-]*=`)

// query takes the parameters of a place.
func (p *place) query(raw string) error {
	all, err := url.ParseQuery(raw)
	if err != nil {
		return errors.New("the parameters of the place are no query of a URL")
	}
	fields := map[string]*string{"endpoint": &p.endpoint, "region": &p.region, "style": &p.style, "profile": &p.profile}
	for name, values := range all {
		field := fields[name]
		switch {
		case field == nil:
			return errors.New("a parameter of the place is none of endpoint, region, style and profile")
		case len(values) != 1 || values[0] == "":
			return fmt.Errorf("the place has no value of %s, or two", name)
		}
		*field = values[0]
	}
	if p.style != "" && p.style != "path" && p.style != "host" {
		return errors.New("style is neither path nor host")
	}
	if p.endpoint == "" {
		return nil
	}
	if !strings.Contains(p.endpoint, "://") {
		p.endpoint = "https://" + p.endpoint
	}
	switch at, err := url.Parse(p.endpoint); {
	case err == nil && at.User != nil:
		return errKeys
	case err != nil, at.Scheme != "https" && at.Scheme != "http", at.Hostname() == "", at.RawQuery != "", at.Fragment != "":
		return errors.New("the endpoint is no address: one is like https://HOST")
	}
	return nil
}

// config returns the configuration of a client: the program's own one, or the one of the
// AWS tools, with the parameters of the place.
func (p *place) config(ctx context.Context, own *aws.Config) (c aws.Config, err error) {
	if own != nil {
		if p.profile != "" {
			return c, errors.New("the place has a profile, and the program a configuration of its own")
		}
		c = own.Copy()
	} else if c, err = config.LoadDefaultConfig(ctx, config.WithSharedConfigProfile(p.profile), config.WithLogger(logging.Nop{})); err != nil {
		return c, fmt.Errorf("read the configuration of the AWS tools: %w", err)
	}
	if p.endpoint != "" {
		c.BaseEndpoint = &p.endpoint
	}
	c.Region = cmp.Or(p.region, c.Region)
	if c.Region == "" && c.BaseEndpoint != nil {
		c.Region = "us-east-1" // other services take it
	}
	if c.HTTPClient == nil {
		c.HTTPClient = awshttp.NewBuildableClient()
	}
	if b, ok := c.HTTPClient.(*awshttp.BuildableClient); ok {
		c.HTTPClient = b.WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = 2 * atOnce }) // all go to one host
	}
	return c, nil
}
