/* Torpor planner reference: plain scalar C, no heap, O(1) state. Port line by line. */
#ifndef REF_H
#define REF_H
#define NB 24            /* bins of the exit chance */
#define NF 31            /* features without motion line */
#define NFM 36           /* with motion line */
#ifndef H1
#define H1 24
#define H2 16
#endif
#define NCAND 109
typedef struct { double acq, trk, bkp; int n; double off[8], ttf[8]; } Profile;
typedef struct { int nin; float mu[NFM], sd[NFM]; float w1[H1*NFM], b1[H1], w2[H2*H1], b2[H2], w3[NB*H2], b3[NB]; } Net;
typedef struct {
  double mu_price;     /* mu: price of a violation in mean powers */
  double lam_min;      /* mW */
  double amax;         /* m/s2 */
  double guard_gain;   /* feedback */
  double e0, t0;       /* prior energy mJ, prior time s */
  double shrink;       /* scales p */
  int heuristic;       /* 1: EnTracked, 2: cautious, 3: exploration heuristic */
} Params;
typedef struct {
  const Profile *pr; const Net *net; Params pa;
  double E; int useline;
  int n; double t, x, y, tstart; double lastoff;
  double vprev, pdx, pdy, pD;
  double m[3], a[4], qx[4], qy[4];
  double ax[3], ay[3], at[3];
  double tmove, tstill, fm1, fm2, exc, viol;
  double energy, time;
  double mvl, mm1, mm2;    /* motion line: EMA of motion share */
  double hold; double T0, vref; double f[NFM]; double p[NB];
} Planner;
void planner_init(Planner*, const Profile*, const Net*, const Params*, double E, int useline);
/* one fix; motion: line now (0/1); mot_s: seconds of motion since last fix; since: seconds since line last changed. Returns off seconds, 0 = stay on one second */
double planner_fix(Planner*, double t, double x, double y, double speed, double acc, int motion, double mot_s, double since);
double profile_ttf(const Profile*, double off);
extern const double BIN[NB+1];
extern const double CAND[NCAND];
#endif
