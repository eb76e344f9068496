"""Calls of `gs.nn.functional` with the values that they should have.

A case: the name of the function, its arguments (arrays of floats are differentiated), its keywords,
and the value, or None where a test of its own knows it.
"""

import importlib.util

import numpy as np

from tests.nn import formulas

HAS_SCIPY = importlib.util.find_spec("scipy") is not None

rng = np.random.default_rng(0)


def normal(*shape):
    return rng.standard_normal(shape)


def uniform(*shape):
    return rng.uniform(0.1, 0.9, shape)


X, Y, P, Q = normal(3, 4), normal(3, 4), uniform(3, 4), uniform(3, 4)
SIGNS = np.where(normal(3) > 0, 1.0, -1.0)
CLASSES, WEIGHT = np.array([1, 3, 0]), uniform(4)
LINE, IMAGE, SOLID = normal(2, 3, 6), normal(2, 4, 5, 5), normal(1, 2, 3, 3, 3)
DISTRIBUTION = formulas.softmax(Y, 1)


def case(name, *args, value=None, **keywords):
    return name, args, keywords, value


ACTIVATIONS = [
    case(name, X * 2, value=f(X * 2))
    for name, f in formulas.ACTIVATIONS.items()
    if name != "gelu" or HAS_SCIPY
] + [
    case("gelu", X, approximate="tanh"),
    case("glu", X, value=formulas.glu(X)),
    case("softmax", X, 0, value=formulas.softmax(X, 0)),
    case("softmin", X, 1, value=formulas.softmax(-X, 1)),
    case("log_softmax", X, 1, value=np.log(formulas.softmax(X, 1))),
    case("threshold", X, 0.1, 0.5, value=np.where(X > 0.1, X, 0.5)),
    case("prelu", X, np.array([0.3]), value=np.where(X > 0, X, 0.3 * X)),
    case("rrelu", X, 0.1, 0.3, value=np.where(X > 0, X, 0.2 * X)),
    case("softplus", X, 2.0, 1.0, value=np.where(2 * X > 1, X, np.log1p(np.exp(2 * X)) / 2)),
    case("normalize", X, value=X / np.sqrt((X**2).sum(1, keepdims=True))),
]

LOSSES = [case(n, X, Q, value=f(X, Q)) for n, f in formulas.LOSSES_OF_PAIRS.items()] + [
    case("mse_loss", X, Y, reduction="sum", value=((X - Y) ** 2).sum()),
    case("mse_loss", X, Y, reduction="none", value=(X - Y) ** 2),
    case("mse_loss", X, Y, weight=P, value=(P * (X - Y) ** 2).sum() / P.sum()),
    case("huber_loss", X, Y, delta=10.0, value=((X - Y) ** 2).mean() / 2),
    case("smooth_l1_loss", X, Y, beta=0.0, value=np.abs(X - Y).mean()),
    case("binary_cross_entropy", P, Q, value=-np.mean(Q * np.log(P) + (1 - Q) * np.log(1 - P))),
    case(
        "binary_cross_entropy_with_logits",
        X,
        Q,
        pos_weight=WEIGHT,
        value=np.mean(WEIGHT * Q * np.log1p(np.exp(-X)) + (1 - Q) * np.log1p(np.exp(X))),
    ),
    case("kl_div", X, Q, value=np.mean(Q * (np.log(Q) - X))),
    case("kl_div", X, Y, "batchmean", log_target=True),
    case("gaussian_nll_loss", X, Y, P, value=np.mean(np.log(P) + (X - Y) ** 2 / P) / 2),
    case("poisson_nll_loss", P, Q, log_input=False, full=True),
    case("nll_loss", X, CLASSES, value=-np.mean(X[np.arange(3), CLASSES])),
    case("cross_entropy", X, CLASSES, value=formulas.cross_entropy(X, CLASSES)),
    case("cross_entropy", X[0], np.array(2), value=formulas.cross_entropy(X[:1], [2])),
    case(
        "cross_entropy",
        X,
        CLASSES,
        WEIGHT,
        ignore_index=3,
        label_smoothing=0.2,
        value=formulas.cross_entropy(X, CLASSES, WEIGHT, 3, 0.2),
    ),
    case(
        "cross_entropy",
        X,
        DISTRIBUTION,
        value=-np.mean((DISTRIBUTION * np.log(formulas.softmax(X, 1))).sum(1)),
    ),
    case("cross_entropy", normal(2, 4, 3), np.array([[0, 1, 2], [3, 2, 1]]), reduction="none"),
    case("margin_ranking_loss", X[:, 0], X[:, 1], SIGNS, margin=0.5),
    case("hinge_embedding_loss", X[:, 0], SIGNS),
    case("cosine_embedding_loss", X, Y, SIGNS),
    case("triplet_margin_loss", X, Y, normal(3, 4), swap=True),
    case("multi_margin_loss", X, CLASSES, p=2),
    case("multilabel_margin_loss", X[:2], np.array([[1, 2, -1, 0], [0, -1, 1, 1]])),
    case("multilabel_soft_margin_loss", X, np.where(Y > 0, 1.0, 0.0)),
]

LAYERS = [
    case("linear", X, normal(2, 4), normal(2)),
    case("linear", normal(2, 3, 4), normal(5, 4)),
    case("bilinear", X, normal(3, 2), normal(5, 4, 2), normal(5)),
    case("layer_norm", X, (4,), value=formulas.normalized(X, 1)),
    case("layer_norm", LINE, (3, 6), normal(3, 6), normal(3, 6)),
    case("rms_norm", X, (4,), WEIGHT),
    case("group_norm", IMAGE, 2, value=formulas.group_norm(IMAGE, 2)),
    case("group_norm", IMAGE, 2, normal(4), normal(4)),
    case(
        "batch_norm", IMAGE, None, None, training=True, value=formulas.normalized(IMAGE, (0, 2, 3))
    ),
    case("batch_norm", X, normal(4), uniform(4), normal(4), normal(4)),
    case("instance_norm", IMAGE, value=formulas.normalized(IMAGE, (2, 3))),
    case("local_response_norm", LINE, 2),
    case("embedding", np.array([[1, 0], [3, 1]]), normal(4, 2)),
    case(
        "scaled_dot_product_attention",
        *(normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 2)),
        is_causal=True,
    ),
    case("scaled_dot_product_attention", X, Y, Q, value=formulas.attention(X, Y, Q)),
    case("scaled_dot_product_attention", X, Y, Q, normal(3, 3), scale=0.5),
    case("cosine_similarity", X, Y, value=formulas.cosines(X, Y)),
    case(
        "cosine_similarity",
        *(X[None, :2], Y[:2, None]),
        dim=-2,
        value=formulas.cosines(
            np.repeat(X[None, :2], 2, 0).swapaxes(1, 2), np.repeat(Y[:2, None], 2, 1).swapaxes(1, 2)
        ),
    ),
    case("pairwise_distance", X, Y, value=np.sqrt(((X - Y + 1e-6) ** 2).sum(1))),
    case("pixel_shuffle", normal(1, 4, 2, 2), 2),
    case("pixel_unshuffle", normal(1, 1, 4, 4), 2),
    case("channel_shuffle", IMAGE, 2, value=IMAGE[:, [0, 2, 1, 3]]),
    case("dropout", X, 0.5, False, value=X),
]

_KERNEL = normal(4, 2, 3, 3)

CONVOLUTIONS = [
    case(
        f"conv{name}",
        *(x, weight, *bias),
        **options,
        value=formulas.convolved(x, weight, *bias, **options),
    )
    for name, x, weight, bias, options in [
        ("1d", LINE, normal(4, 3, 2), (normal(4),), {}),
        ("1d", LINE, normal(4, 3, 2), (), {"stride": 2, "padding": 1, "dilation": 2}),
        ("2d", IMAGE, normal(2, 4, 2, 3), (normal(2),), {"stride": 2}),
        ("2d", IMAGE, _KERNEL, (), {"groups": 2, "padding": 1}),
        ("2d", IMAGE, normal(3, 4, 1, 1), (), {}),
        ("3d", SOLID, normal(2, 2, 2, 2, 2), (normal(2),), {"padding": 1, "stride": 2}),
    ]
] + [
    case("conv2d", IMAGE, _KERNEL, padding="same", groups=2),
    case("conv_transpose1d", LINE, normal(3, 4, 3), normal(4), stride=2, output_padding=1),
    case("conv_transpose2d", IMAGE, normal(4, 2, 3, 3), padding=1, groups=2),
    case("conv_transpose3d", SOLID, normal(2, 1, 2, 2, 2), dilation=2),
    case("unfold", IMAGE, (2, 3), padding=1, stride=2),
    case("fold", normal(1, 8, 9), (4, 4), 2),
]

POOLS = [
    case("max_pool1d", LINE, 2, value=formulas.pooled(LINE, 2, np.max)),
    case("max_pool2d", IMAGE, 2, value=formulas.pooled(IMAGE, 2, np.max)),
    case(
        "max_pool2d",
        IMAGE,
        3,
        stride=2,
        padding=1,
        value=formulas.pooled(IMAGE, 3, np.max, 2, 1, -np.inf),
    ),
    case("max_pool3d", SOLID, 2, 1, value=formulas.pooled(SOLID, 2, np.max, 1)),
    case("avg_pool1d", LINE, 3, value=formulas.pooled(LINE, 3, np.mean)),
    case("avg_pool2d", IMAGE, 3, 2, 1, value=formulas.pooled(IMAGE, 3, np.mean, 2, 1)),
    case("avg_pool2d", IMAGE, 2, ceil_mode=True, count_include_pad=False),
    case("avg_pool3d", SOLID, 2, 1, value=formulas.pooled(SOLID, 2, np.mean, 1)),
    case("adaptive_avg_pool1d", LINE, 4, value=formulas.adaptively_pooled(LINE, 4, np.mean)),
    case("adaptive_max_pool1d", LINE, 4, value=formulas.adaptively_pooled(LINE, 4, np.max)),
    case("adaptive_avg_pool2d", IMAGE, (2, None)),
    case("adaptive_max_pool3d", SOLID, 2),
    case("lp_pool2d", uniform(1, 2, 4, 4), 2, 2),
    case("max_unpool1d", normal(1, 1, 2), np.array([[[1, 2]]]), 2),
    case("pad", LINE, (1, 2), value=np.pad(LINE, ((0, 0), (0, 0), (1, 2)))),
    case("pad", LINE, (1, -2, 0, 1), value=np.pad(LINE, ((0, 0), (0, 1), (1, 0)))[..., :-2]),
    case("pad", LINE, (1, 2), "reflect", value=np.pad(LINE, ((0, 0), (0, 0), (1, 2)), "reflect")),
    case("pad", LINE, (1, 2), "replicate", value=np.pad(LINE, ((0, 0), (0, 0), (1, 2)), "edge")),
    case("pad", LINE, (1, 2), "circular", value=np.pad(LINE, ((0, 0), (0, 0), (1, 2)), "wrap")),
    case("interpolate", LINE, scale_factor=2, value=np.repeat(LINE, 2, -1)),
    *(
        case(
            "interpolate",
            LINE,
            9,
            mode="linear",
            align_corners=aligned,
            value=np.apply_along_axis(formulas.linearly_resampled, -1, LINE, 9, aligned),
        )
        for aligned in (False, True)
    ),
    case("interpolate", IMAGE, (3, 8), mode="bilinear"),
    case("interpolate", IMAGE, (3, 8), mode="bicubic"),
    case("interpolate", IMAGE, 2, mode="area"),
]

CASES = [*ACTIVATIONS, *LOSSES, *LAYERS, *CONVOLUTIONS, *POOLS]
