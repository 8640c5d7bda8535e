package accept

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

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
	inURL                       // image_url.url
	inInput                     // image_url
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
	case "image_url", "input_image":
		p.form = inInput
		if pyjson.KindOf(data) == pyjson.Object {
			p.form, data = inURL, turns.Members(data, "url")[0]
		}
	}
	if pyjson.KindOf(data) != pyjson.String {
		return p, false, pyjson.KindOf(at) == pyjson.String
	}
	p.text = data[1 : len(data)-1]
	if bytes.IndexByte(p.text, '\\') >= 0 {
		p.text = pyjson.AppendText(nil, data)
	}
	ok = p.form == inSource || p.cutURL()
	if data, is := picture.Read(p.text); !ok && is {
		ok = picture.Of(data).Type != "" // base64 where a URL should be
	}
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
	p.declared, p.text = "", data
	if kind, is := bytes.CutSuffix(head, []byte(";base64")); is {
		kind, _, _ = bytes.Cut(kind, []byte(";"))
		p.declared = string(kind)
	}
	return true
}

// with returns the block with some media type and base64.
func (p shownPicture) with(kind string, text []byte) []byte {
	if p.form == inSource {
		raw := setWithin(p.raw, []string{"source", "media_type"}, pyjson.Quote(kind))
		return setWithin(raw, []string{"source", "data"}, pyjson.Quote(string(text)))
	}
	quoted := pyjson.Quote("data:" + kind + ";base64," + string(text))
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
	typed := r.Types != nil
	taken := slices.Concat(r.Types, r.DisputedTypes)
	isImage := len(declared) > 6 && strings.EqualFold(declared[:6], "image/")
	switch {
	case typed && (!ok || data.URL() && r.TypeMatches || v.is.Type == "" || cut):
		v.why = BadImage
	case typed && !slices.Contains(taken, v.is.Type), r.StillOnly && moving:
		v.why = UntakenImage
	case wide && !maybe:
		v.why = WideImage
	case over && !disputed:
		v.why = LargeImage
	case typed && (!isImage || r.TypeMatches && declared != v.is.Type || r.TypeListed && !slices.Contains(taken, declared)):
		v.why = ImageType
	case slices.Contains(r.DisputedTypes, v.is.Type):
		v.why, v.disputed = UntakenImage, true
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
	switch turns.TextOf(turns.Members(raw, "type")[0]) {
	case "image", "image_url", "input_image":
		if e.role == "assistant" {
			e.report(ForeignBlock, "")
			return pictureText(UntakenImage)
		}
	case "document", "file", "input_file":
		e.pictures = append(e.pictures, sentPicture{document: true})
		if e.provider == Anthropic {
			return e.picturesIn(raw, "source", "content")
		}
		return raw
	default:
		return raw
	}
	p, shown, elsewhere := pictureIn(raw)
	how, edited := e.edits[len(e.pictures)]
	switch {
	case edited && how.side == 0:
		e.report(how.why, "")
		e.pictures = append(e.pictures, sentPicture{}) // so that the next ones keep their numbers
		return pictureText(how.why)
	case elsewhere:
		e.pictures = append(e.pictures, sentPicture{})
		return raw
	case !shown: // it has no source
		e.report(BadImage, "")
		f := turns.Members(raw, "mimeType", "data") // in the form of MCP
		if pyjson.KindOf(f[0]) != pyjson.String || pyjson.KindOf(f[1]) != pyjson.String {
			return pictureText(BadImage)
		}
		return e.picture(slices.Concat([]byte(`{"type": "image", "source": {"type": "base64", "media_type": `), f[0], []byte(`, "data": `), f[1], []byte("}}")))
	}
	v := e.limits.judge(p.declared, p.text)
	made := raw
	switch {
	case edited:
		v.why, v.disputed = how.why, false
		if made = e.smaller(p, how.side); made == nil {
			v.why, made = "", raw
		}
	case v.why != "" && !v.disputed:
		made = e.mendPicture(p, v)
	}
	if v.why != "" && !v.disputed {
		e.report(v.why, "")
		if p, shown, _ = pictureIn(made); !shown {
			return made
		}
		v = e.limits.judge(p.declared, p.text)
	}
	if v.disputed {
		e.disputed = append(e.disputed, v.why)
	}
	e.pictures = append(e.pictures, sentPicture{side: max(v.is.Width, v.is.Height), bytes: len(p.text)})
	return made
}

// mendPicture returns the block in the place of a picture that is refused.
func (e *examiner) mendPicture(p shownPicture, v verdict) []byte {
	switch v.why {
	case ImageType:
		return p.with(v.is.Type, p.text)
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
		if made := e.smaller(p, e.limits.Side.Certain); made != nil {
			return made
		}
		return pictureText(v.why)
	}
	if v = e.limits.judge(p.declared, p.text); v.why == "" || v.disputed || v.why == ImageType {
		return p.with(v.is.Type, p.text)
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

// smaller returns the block with a picture that is taken, of at most so many pixels a side
// unless that is 0, or nil if it cannot be made.
func (e *examiner) smaller(p shownPicture, side int) []byte {
	data, ok := picture.Read(p.text)
	if e.scale == nil || !ok {
		return nil
	}
	made, kind, err := e.scale(data.AppendTo(nil, 0, data.Len()), Wanted{e.limits.Types, side, e.limits.Bytes.Certain / 4 * 3})
	if err != nil {
		return nil
	}
	text := []byte(base64.StdEncoding.EncodeToString(made))
	if v := e.limits.judge(kind, text); v.why != "" && !v.disputed || side > 0 && max(v.is.Width, v.is.Height) > side {
		return nil
	}
	return p.with(kind, text)
}

// picturesIn returns an object with the pictures at a path in it examined: one, or a list.
func (e *examiner) picturesIn(raw []byte, path ...string) []byte {
	content := raw
	for _, name := range path {
		content = turns.Members(content, name)[0]
	}
	before := len(e.found)
	switch pyjson.KindOf(content) {
	case pyjson.Object:
		content = e.picture(content)
	case pyjson.Array:
		var list []block
		for raw := range pyjson.Elements(content) {
			list = append(list, block{textual, e.picture(raw)})
		}
		if len(e.found) > before {
			content = arrayOf(list)
		}
	}
	if len(e.found) == before {
		return raw
	}
	return setWithin(raw, path, content)
}
