"""Functions of SciPy (docs.scipy.org)."""

from __future__ import annotations

from gradscribe.primitives.contract_kinds import (
    ASKS,
    COMPUTES,
    OUT,
    OUTPUT,
    SELECTS,
    UFUNC,
)
from gradscribe.primitives.known_calls.rows import Row

FUNCTIONS: tuple[Row, ...] = (
    Row("scipy.optimize", COMPUTES, "bisect brenth brentq newton ridder toms748"),
    Row("scipy.integrate", COMPUTES, "fixed_quad quad quad_vec"),
    Row(
        "scipy.linalg",
        COMPUTES,
        """
        bandwidth block_diag cdf2rdf cholesky circulant companion convolution_matrix coshm cosm
        cossin dft eig eig_banded eigh eigh_tridiagonal eigvals eigvals_banded eigvalsh
        eigvalsh_tridiagonal expm expm_frechet fiedler fiedler_companion hadamard hankel helmert
        hilbert invhilbert invpascal ishermitian issymmetric khatri_rao ldl lstsq lu
        matmul_toeplitz matrix_balance norm null_space ordqz orth orthogonal_procrustes pascal pinv
        pinvh polar qr qr_multiply qr_update qz rq schur signm sinhm sinm solve solve_circulant
        solve_continuous_are solve_continuous_lyapunov solve_discrete_are solve_discrete_lyapunov
        solve_lyapunov solve_sylvester solve_toeplitz solve_triangular solveh_banded sqrtm
        subspace_angles svd svdvals tanhm tanm toeplitz
        """,
    ),
    Row("scipy.linalg", SELECTS, "cho_factor cholesky_banded det hessenberg inv lu_factor rsf2csf"),
    Row(
        "scipy.signal.windows",
        COMPUTES,
        """
        barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine dpss exponential
        flattop gaussian general_cosine general_gaussian general_hamming get_window hamming hann
        kaiser kaiser_bessel_derived lanczos nuttall parzen taylor triang tukey
        """,
    ),
    Row(
        "scipy.fft",
        COMPUTES,
        """
        dct dst fft fftfreq fftshift fht fhtoffset hfft idct idst ifft ifftshift ifht ihfft irfft
        next_fast_len prev_fast_len rfft rfftfreq
        """,
    ),
    Row(
        "scipy.fft",
        SELECTS,
        """
        dctn dstn fft2 fftn hfft2 hfftn idctn idstn ifft2 ifftn ihfft2 ihfftn irfft2 irfftn rfft2
        rfftn
        """,
    ),
    Row("scipy.fft", ASKS, "get_workers"),
    Row(
        "scipy.ndimage",
        OUTPUT,
        """
        affine_transform binary_closing binary_dilation binary_erosion binary_fill_holes
        binary_hit_or_miss binary_opening binary_propagation black_tophat convolve convolve1d
        correlate correlate1d distance_transform_bf distance_transform_edt fourier_ellipsoid
        fourier_gaussian fourier_shift fourier_uniform gaussian_filter gaussian_filter1d
        gaussian_gradient_magnitude gaussian_laplace grey_closing grey_dilation grey_erosion
        grey_opening label laplace map_coordinates maximum_filter maximum_filter1d median_filter
        minimum_filter minimum_filter1d morphological_gradient morphological_laplace
        percentile_filter prewitt rank_filter rotate shift sobel spline_filter spline_filter1d
        uniform_filter uniform_filter1d watershed_ift white_tophat zoom
        """,
    ),
    Row(
        "scipy.ndimage",
        COMPUTES,
        """
        center_of_mass extrema find_objects generate_binary_structure histogram iterate_structure
        maximum maximum_position mean median minimum minimum_position standard_deviation sum
        sum_labels value_indices variance
        """,
    ),
    Row(
        "scipy.integrate",
        COMPUTES,
        """
        cumulative_simpson cumulative_trapezoid lebedev_rule newton_cotes romb simpson trapezoid
        """,
    ),
    Row(
        "scipy.spatial",
        COMPUTES,
        """
        distance_matrix geometric_slerp minkowski_distance minkowski_distance_p procrustes
        """,
    ),
    Row("scipy.constants", SELECTS, "convert_temperature"),
    Row("scipy.constants", COMPUTES, "find lambda2nu nu2lambda"),
    Row("scipy.cluster.vq", COMPUTES, "vq whiten"),
    Row(
        "scipy.sparse.csgraph",
        COMPUTES,
        """
        bellman_ford breadth_first_order breadth_first_tree connected_components csgraph_from_dense
        csgraph_masked_from_dense depth_first_order depth_first_tree dijkstra floyd_warshall
        johnson laplacian minimum_spanning_tree reconstruct_path shortest_path
        """,
    ),
    Row(
        "scipy.optimize",
        COMPUTES,
        """
        isotonic_regression linear_sum_assignment lsq_linear milp nnls rosen rosen_der rosen_hess
        rosen_hess_prod
        """,
    ),
    Row(
        "scipy.signal",
        SELECTS,
        """
        abcd_normalize bode cont2discrete dbode deconvolve dfreqresp dlsim freqresp freqs freqs_zpk
        freqz freqz_sos freqz_zpk group_delay impulse normalize ss2tf ss2zpk step tf2ss tf2zpk
        zpk2ss zpk2tf
        """,
    ),
    Row(
        "scipy.signal",
        COMPUTES,
        """
        argrelmax argrelmin bessel besselap bilinear bilinear_zpk buttap butter buttord cheb1ap
        cheb1ord cheb2ap cheb2ord cheby1 cheby2 chirp choose_conv_method closest_STFT_dual_window
        coherence convolve convolve2d correlate correlate2d correlation_lags csd cspline1d
        cspline1d_eval cspline2d czt czt_points decimate detrend ellip ellipap ellipord envelope
        fftconvolve filtfilt find_peaks find_peaks_cwt findfreqs firls firwin firwin2 firwin_2d
        gauss_spline gausspulse get_window hilbert hilbert2 iirdesign iirfilter iirnotch iirpeak
        invres invresz istft kaiser_atten kaiser_beta kaiserord lfilter lfilter_zi lfiltic
        lombscargle lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk max_len_seq
        medfilt medfilt2d minimum_phase oaconvolve peak_prominences peak_widths periodogram
        qspline1d qspline1d_eval qspline2d remez resample resample_poly residue residuez
        savgol_coeffs savgol_filter sawtooth sos2tf sos2zpk sosfilt sosfilt_zi sosfiltfilt
        spectrogram square stft tf2sos unique_roots unit_impulse upfirdn vectorstrength welch
        wiener zoom_fft zpk2sos
        """,
    ),
    Row(
        "scipy.spatial.distance",
        COMPUTES,
        """
        braycurtis canberra chebyshev cityblock correlation cosine dice directed_hausdorff
        euclidean hamming is_valid_dm is_valid_y jaccard jensenshannon minkowski num_obs_dm
        num_obs_y rogerstanimoto russellrao seuclidean sokalsneath sqeuclidean squareform yule
        """,
    ),
    Row("scipy.spatial.distance", OUT, "cdist pdist"),
    Row(
        "scipy.special",
        COMPUTES,
        """
        ai_zeros assoc_laguerre bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros
        c_roots cg_roots chebyc chebys chebyt chebyu comb diric ellip_harm ellip_harm_2
        ellip_normal erf_zeros euler factorial factorial2 factorialk fresnel_zeros fresnelc_zeros
        fresnels_zeros gegenbauer genlaguerre h1vp h2vp h_roots he_roots hermite hermitenorm ivp
        j_roots jacobi jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros js_roots jvp kei_zeros keip_zeros
        kelvin_zeros ker_zeros kerp_zeros kvp l_roots la_roots laguerre lambertw legendre lmbda
        log_softmax logsumexp lqmn lqn mathieu_even_coef mathieu_odd_coef multigammaln obl_cv_seq
        p_roots pbdn_seq pbdv_seq pbvv_seq perm polygamma pro_cv_seq ps_roots riccati_jn riccati_yn
        roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_gegenbauer roots_genlaguerre
        roots_hermite roots_hermitenorm roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt
        roots_sh_chebyu roots_sh_jacobi roots_sh_legendre s_roots sh_chebyt sh_chebyu sh_jacobi
        sh_legendre sinc softmax softplus spherical_in spherical_jn spherical_kn spherical_yn
        stirling2 t_roots ts_roots u_roots us_roots y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros
        yvp
        """,
    ),
    Row("scipy.special", OUT, "zeta"),
    Row(
        "scipy.special",
        UFUNC,
        """
        agm airy airye bdtr bdtrc bdtri bdtrik bdtrin bei beip ber berp besselpoly beta betainc
        betaincc betainccinv betaincinv betaln binom boxcox boxcox1p btdtria btdtrib cbrt chdtr
        chdtrc chdtri chdtriv chndtr chndtridf chndtrinc chndtrix cosdg cosm1 cotdg dawsn digamma
        ellipe ellipeinc ellipj ellipk ellipkinc ellipkm1 elliprc elliprd elliprf elliprg elliprj
        entr erf erfc erfcinv erfcx erfi erfinv eval_chebyc eval_chebys eval_chebyt eval_chebyu
        eval_gegenbauer eval_genlaguerre eval_hermite eval_hermitenorm eval_jacobi eval_laguerre
        eval_legendre eval_sh_chebyt eval_sh_chebyu eval_sh_jacobi eval_sh_legendre exp1 exp10 exp2
        expi expit expm1 expn exprel fdtr fdtrc fdtri fdtridfd fresnel gamma gammainc gammaincc
        gammainccinv gammaincinv gammaln gammasgn gdtr gdtrc gdtria gdtrib gdtrix hankel1 hankel1e
        hankel2 hankel2e huber hyp0f1 hyp1f1 hyp2f1 hyperu i0 i0e i1 i1e inv_boxcox inv_boxcox1p
        it2i0k0 it2j0y0 it2struve0 itairy iti0k0 itj0y0 itmodstruve0 itstruve0 iv ive j0 j1 jn jv
        jve k0 k0e k1 k1e kei keip kelvin ker kerp kl_div kn kolmogi kolmogorov kv kve log1p
        log_expit log_ndtr log_wright_bessel loggamma logit lpmv mathieu_a mathieu_b mathieu_cem
        mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_sem modfresnelm
        modfresnelp modstruve nbdtr nbdtrc nbdtri nbdtrik nbdtrin ncfdtr ncfdtri ncfdtridfd
        ncfdtridfn ncfdtrinc nctdtr nctdtridf nctdtrinc nctdtrit ndtr ndtri ndtri_exp nrdtrimn
        nrdtrisd obl_ang1 obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv owens_t pbdv
        pbvv pbwa pdtr pdtrc pdtri pdtrik poch powm1 pro_ang1 pro_ang1_cv pro_cv pro_rad1
        pro_rad1_cv pro_rad2 pro_rad2_cv pseudo_huber psi radian rel_entr rgamma round shichi sici
        sindg smirnov smirnovi spence stdtr stdtridf stdtrit struve tandg tklmbda voigt_profile
        wofz wright_bessel wrightomega xlog1py xlogy y0 y1 yn yv yve zetac
        """,
    ),
    Row(
        "scipy.stats",
        COMPUTES,
        """
        describe entropy gmean hmean iqr kendalltau kurtosis linregress median_abs_deviation moment
        pearsonr rankdata sem skew spearmanr trim_mean ttest_1samp ttest_ind ttest_rel variation
        wasserstein_distance zscore
        """,
    ),
    Row(
        "scipy.stats",
        COMPUTES,
        """
        alexandergovern ansari barnard_exact bartlett boschloo_exact boxcox boxcox_llf
        brunnermunzel chisquare circmean circstd circvar cramervonmises cumfreq energy_distance
        epps_singleton_2samp expectile f_oneway fligner friedmanchisquare gstd gzscore jarque_bera
        kruskal kstat kstatvar kurtosistest levene lmoment median_test mode mood normaltest
        percentileofscore pmean pointbiserialr poisson_means_test power_divergence ranksums relfreq
        scoreatpercentile shapiro sigmaclip skewtest tiecorrect tmax tmean tmin trim1 trimboth tsem
        tstd tvar wasserstein_distance_nd yeojohnson yeojohnson_llf zmap
        """,
    ),
    Row(
        "scipy.stats",
        COMPUTES,
        """
        anderson anderson_ksamp chatterjeexi chi2_contingency combine_pvalues cramervonmises_2samp
        differential_entropy ks_2samp kstest mannwhitneyu quantile spearmanrho wilcoxon
        """,
        unless="method",
    ),
    Row(
        "scipy.fftpack",
        SELECTS,
        "dctn diff dstn fft2 fftn idctn idstn ifft2 ifftn itilbert shift tilbert",
    ),
    Row(
        "scipy.fftpack",
        COMPUTES,
        """
        cc_diff cs_diff dct dst fft hilbert idct idst ifft ihilbert irfft rfft rfftfreq sc_diff
        ss_diff
        """,
    ),
    Row(
        "scipy.cluster.hierarchy",
        COMPUTES,
        """
        average centroid complete cophenet fcluster inconsistent is_monotonic is_valid_linkage
        leaves_list linkage median num_obs_linkage single ward weighted
        """,
    ),
)
"""Functions, and classes that are called."""
