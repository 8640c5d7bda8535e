package accept

import (
	"bytes"
	"encoding/base64"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/picture"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// sentPicture is a picture or a document in a message, in the order in which they are sent.
type sentPicture struct {
	document bool
	side     int // the larger of width and height; 0: not known
	bytes    int // as base64; 0: it is not in the message
}

// shownPicture is a block of a message with the data of a picture in it.
type shownPicture struct {
	raw      []byte
	declared string // media type
	text     []byte // base64
	form     pictureForm
}

// pictureForm is the way in which a block holds a picture.
type pictureForm int

const (
	inSource pictureForm = iota // source.data
	inURL                       // image_url.url, a data URL
	inInput                     // image_url, a data URL
)

// pictureIn returns the picture whose data a block has; false where it has no data of one.
// elsewhere reports whether it names a place of the data instead.
func pictureIn(raw []byte) (p shownPicture, ok, elsewhere bool) {
	f := turns.Members(raw, "type", "source", "image_url", "file_id")
	p.raw = raw
	data, at := f[2], f[3]
	switch turns.TextOf(f[0]) {
	case "image":
		source := turns.Members(f[1], "url", "media_type", "data", "file_id")
		p.declared, data, at = turns.TextOf(source[1]), source[2], source[0]
		if at == nil {
			at = source[3]
		}
	case "image_url":
		p.form, data = inURL, turns.Members(f[2], "url")[0]
	case "input_image":
		p.form = inInput
	default:
		return p, false, true
	}
	if pyjson.KindOf(data) != pyjson.String {
		return p, false, pyjson.KindOf(at) == pyjson.String
	}
	p.text = data[1 : len(data)-1]
	if bytes.IndexByte(p.text, '\\') >= 0 {
		p.text = pyjson.AppendText(nil, data)
	}
	ok = p.form == inSource || p.cutURL()
	return p, ok, !ok && len(p.text) > 0
}

// cutURL cuts the data URL that a picture is given as into media type and data; false: it is
// no such URL.
func (p *shownPicture) cutURL() bool {
	rest, is := bytes.CutPrefix(p.text, []byte("data:"))
	if !is {
		return false
	}
	head, data, _ := bytes.Cut(rest, []byte(","))
	kind, _, _ := bytes.Cut(head, []byte(";"))
	p.declared, p.text = string(kind), data
	return true
}

// with returns the block with another media type, and other base64 unless that is nil.
func (p shownPicture) with(kind string, text []byte) []byte {
	if text == nil {
		text = p.text
	}
	quoted := slices.Concat([]byte{'"'}, text, []byte{'"'})
	if p.form == inSource {
		raw := setWithin(p.raw, []string{"source", "media_type"}, pyjson.Quote(kind))
		return setWithin(raw, []string{"source", "data"}, quoted)
	}
	quoted = slices.Concat([]byte(`"data:`+kind+`;base64,`), text, []byte{'"'})
	if p.form == inURL {
		return setWithin(p.raw, []string{"image_url", "url"}, quoted)
	}
	return pyjson.Splice(p.raw, "image_url", quoted)
}

// verdict is what the rules say of one picture.
type verdict struct {
	why      Reason // "": it is taken
	disputed bool
	is       picture.Picture
}

// judge returns what the rules say of a picture with some declared type and base64.
func (r Pictures) judge(declared string, text []byte) verdict {
	data, ok := picture.Read(text)
	v := verdict{is: picture.Of(data)}
	moving, cut := picture.Body(data, v.is.Type)
	over, disputed := r.Bytes.judge(len(text))
	wide, maybe := r.Side.judge(max(v.is.Width, v.is.Height))
	switch {
	case r.Types == nil:
		v.why, v.disputed = LargeImage, disputed
		if !over {
			v.why = ""
		}
	case !ok, data.URL() && r.Declared, v.is.Type == "", cut:
		v.why = BadImage
	case slices.Contains(r.Disputed, v.is.Type):
		v.why, v.disputed = UntakenImage, true
	case !slices.Contains(r.Types, v.is.Type), r.Still && moving:
		v.why = UntakenImage
	case wide && !maybe:
		v.why = WideImage
	case over && !disputed:
		v.why = LargeImage
	case r.Declared && declared != v.is.Type, r.Named && !slices.Contains(r.Types, declared) && !slices.Contains(r.Disputed, declared):
		v.why = ImageType
	case wide:
		v.why, v.disputed = WideImage, true
	case over:
		v.why, v.disputed = LargeImage, true
	}
	return v
}

// The texts in the place of a picture that is not sent. Sent again with each turn, it would end
// the session.
const (
	badLeftOut     = "(An image was left out: it is damaged, or of a kind that the model does not take.)"
	largeLeftOut   = "(An image was left out: it is larger than the model takes.)"
	surplusLeftOut = "(An image was left out: there were more than the model takes.)"
)

// pictureText returns the block in the place of a picture that is refused.
func pictureText(why Reason) []byte {
	text := largeLeftOut
	switch why {
	case BadImage, UntakenImage:
		text = badLeftOut
	case ManyImages, LargeRequest:
		text = surplusLeftOut
	}
	return textBlock(pyjson.Quote(text))
}

// picture examines a block that is neither text, call, result nor thinking: it notes a picture
// or a document, and returns the block that takes its place.
func (e *examiner) picture(raw []byte) []byte {
	kind := turns.TextOf(turns.Members(raw, "type")[0])
	switch kind {
	case "image", "image_url", "input_image":
	case "document", "file", "input_file":
		e.pictures = append(e.pictures, sentPicture{document: true})
		return raw
	default:
		return raw
	}
	p, shown, elsewhere := pictureIn(raw)
	switch {
	case elsewhere:
		e.pictures = append(e.pictures, sentPicture{})
		return raw
	case !shown: // it has no source
		e.report(BadImage, "")
		return pictureText(BadImage)
	}
	r := e.limits
	v := r.judge(p.declared, p.text)
	how, edited := e.edits[len(e.pictures)]
	switch {
	case edited:
		v.why, v.disputed = how.why, false
		raw = e.smaller(p, r, how)
	case v.why != "" && !v.disputed:
		raw = e.mendPicture(p, r, v)
	}
	if v.why != "" && !v.disputed {
		e.report(v.why, "")
		if p, shown, _ = pictureIn(raw); !shown {
			if edited {
				e.pictures = append(e.pictures, sentPicture{}) // so that the next ones keep their numbers
			}
			return raw
		}
		v = r.judge(p.declared, p.text)
	}
	if v.disputed {
		e.disputed = append(e.disputed, v.why)
	}
	e.pictures = append(e.pictures, sentPicture{side: max(v.is.Width, v.is.Height), bytes: len(p.text)})
	return raw
}

// mendPicture returns the block in the place of a picture that is refused.
func (e *examiner) mendPicture(p shownPicture, r Pictures, v verdict) []byte {
	switch v.why {
	case ImageType:
		return p.with(v.is.Type, nil)
	case BadImage:
		if p.form == inSource && p.cutURL() { // a data URL where the data should be
			break
		}
		data, ok := picture.Read(p.text)
		if !ok || !data.URL() {
			return pictureText(v.why)
		}
		p.text = []byte(base64.StdEncoding.EncodeToString(data.AppendTo(nil, 0, data.Len())))
	default:
		return e.smaller(p, r, edit{why: v.why, side: r.Side.Certain})
	}
	if v = r.judge(p.declared, p.text); v.why == "" || v.disputed || v.why == ImageType {
		return p.with(v.is.Type, nil)
	}
	return pictureText(v.why)
}

// edit is what happens to one picture of a message for the sake of the conversation.
type edit struct {
	why  Reason
	side int // to scale it down to; 0: it is left out
}

// Wanted is the picture that a [Scaler] is to make.
type Wanted struct {
	Types []string // its media type is one of these
	Side  int      // the most pixels of its width and height; 0: any number
	Bytes int      // the most bytes; 0: any number
}

// Scaler turns a picture into one that a provider takes, as much like it as it can be, and
// returns it with its media type. An error leaves the picture out.
type Scaler func(picture []byte, want Wanted) (made []byte, kind string, err error)

// smaller returns the block with a picture that is taken, or with a text in its place.
func (e *examiner) smaller(p shownPicture, r Pictures, how edit) []byte {
	data, ok := picture.Read(p.text)
	if e.scale == nil || !ok || how.why == ManyImages || how.why == LargeRequest {
		return pictureText(how.why)
	}
	want := Wanted{r.Types, how.side, r.Bytes.Certain / 4 * 3}
	made, kind, err := e.scale(data.AppendTo(nil, 0, data.Len()), want)
	if err != nil {
		return pictureText(how.why)
	}
	text := []byte(base64.StdEncoding.EncodeToString(made))
	if v := r.judge(kind, text); v.why != "" && !v.disputed || how.side > 0 && max(v.is.Width, v.is.Height) > how.side {
		return pictureText(how.why)
	}
	return p.with(kind, text)
}

// resultPictures returns a result, a message or a block, with the pictures in its content
// examined.
func (e *examiner) resultPictures(result []byte) []byte {
	content := turns.Members(result, "content")[0]
	if !e.limits.InResults || pyjson.KindOf(content) != pyjson.Array {
		return result
	}
	var list []block
	before := len(e.found)
	for raw := range pyjson.Elements(content) {
		list = append(list, block{textual, e.picture(raw)})
	}
	if len(e.found) == before {
		return result
	}
	return pyjson.Splice(result, "content", arrayOf(list))
}
